package io.penstock.cli;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jline.terminal.Attributes;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedString;
import org.jline.utils.Display;
import org.jline.utils.InfoCmp.Capability;
import org.jline.utils.NonBlockingReader;
import org.jspecify.annotations.Nullable;

/**
 * A terminal that shows changing lines on its whole screen. Its former content is restored afterwards, even if a signal
 * ends the process. Confined to one thread, except for {@link #close}.
 */
final class LiveTerminal implements AutoCloseable {
    private static final int LEAST_COLUMNS = 40;
    private static final int LEAST_ROWS = 10;
    private static final Size USUAL = Size.of(80, 24);

    private final Terminal terminal;
    private final Attributes original;
    private final Display display;

    /** The size for which the lines on the screen were made. */
    @GuardedBy("this")
    private @Nullable Size shown;

    /** Written once, under the lock of this, which is held while anything is shown. */
    private volatile boolean closed;

    /** The lines of the screen. */
    @FunctionalInterface
    interface Content {
        /** At most {@code rows} lines, of at most {@code columns}. */
        List<String> lines(int columns, int rows);
    }

    LiveTerminal() throws IOException {
        this(ofProcess());
    }

    /** The process's own. It runs no programs: JLine's exec provider would run any {@code test} on the PATH. */
    static Terminal ofProcess() throws IOException {
        return TerminalBuilder.builder().system(true).exec(false).build();
    }

    /** @param terminal closed with this */
    LiveTerminal(Terminal terminal) {
        this.terminal = terminal;
        original = terminal.enterRawMode();
        // Ctrl-C ends the program, as usual.
        Attributes keys = terminal.getAttributes();
        keys.setLocalFlag(Attributes.LocalFlag.ISIG, true);
        terminal.setAttributes(keys);
        terminal.puts(Capability.enter_ca_mode);
        terminal.puts(Capability.cursor_invisible);
        display = new Display(terminal, true);
        closeAtExit();
    }

    private void closeAtExit() {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(this::closeQuietly));
        } catch (IllegalStateException e) { // the process is already ending
            closeQuietly();
        }
    }

    /** Replaces the content shown before; does nothing once closed. */
    synchronized void show(Content content) {
        if (!closed) {
            Size size = size();
            List<String> lines =
                    content.lines(Math.max(LEAST_COLUMNS, size.getColumns()), Math.max(LEAST_ROWS, size.getRows()));
            if (!size.equals(shown)) {
                shown = size;
                display.resize(size);
                display.clear(); // the terminal may have moved the old lines
            }
            display.update(lines.stream().map(AttributedString::new).toList(), 0);
        }
    }

    /** Serial lines, and pseudo-terminals without a set size, report 0 × 0. */
    private Size size() {
        Size size = terminal.getSize();
        return size.getColumns() == 0 || size.getRows() == 0 ? USUAL : size;
    }

    /** Waits for a key until time is up. @return whether it was q, or this was closed */
    boolean isLeft(Duration wait) throws IOException {
        long until = System.nanoTime() + wait.toNanos();
        try {
            for (long left = wait.toMillis();
                    left > 0;
                    left = Duration.ofNanos(until - System.nanoTime()).toMillis()) {
                int key = terminal.reader().read(left);
                if (key == 'q' || key == NonBlockingReader.EOF) {
                    return true;
                }
            }
        } catch (IOException | IllegalStateException e) { // the latter if the terminal is closed
            if (!closed) {
                throw e;
            }
        }
        return closed;
    }

    private void closeQuietly() {
        try {
            close();
        } catch (IOException e) {
            // It is gone.
        }
    }

    /** Any thread may close it; closing it again does nothing. */
    @Override
    public synchronized void close() throws IOException {
        if (!closed) {
            closed = true;
            terminal.puts(Capability.cursor_visible);
            terminal.puts(Capability.exit_ca_mode);
            terminal.setAttributes(original);
            terminal.close();
        }
    }
}

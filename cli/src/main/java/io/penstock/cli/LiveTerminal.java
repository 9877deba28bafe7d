package io.penstock.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jline.terminal.Attributes;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedString;
import org.jline.utils.Display;
import org.jline.utils.InfoCmp.Capability;
import org.jline.utils.NonBlockingReader;

/** A terminal whose whole screen shows lines that change. What was on it is there again afterwards. Confined to a thread. */
final class LiveTerminal implements AutoCloseable {
    private static final int LEAST_COLUMNS = 40;
    private static final int LEAST_ROWS = 10;

    private final Terminal terminal;
    private final Attributes original;
    private final Display display;

    LiveTerminal() throws IOException {
        terminal = TerminalBuilder.builder().system(true).build();
        original = terminal.enterRawMode();
        // Ctrl-C ends the program, as in other ones.
        Attributes keys = terminal.getAttributes();
        keys.setLocalFlag(Attributes.LocalFlag.ISIG, true);
        terminal.setAttributes(keys);
        terminal.puts(Capability.enter_ca_mode);
        terminal.puts(Capability.cursor_invisible);
        display = new Display(terminal, true);
    }

    int columns() {
        return Math.max(LEAST_COLUMNS, terminal.getSize().getColumns());
    }

    int rows() {
        return Math.max(LEAST_ROWS, terminal.getSize().getRows());
    }

    /** Shows the lines in place of those before. */
    void show(List<String> lines) {
        display.resize(terminal.getSize());
        display.update(lines.stream().map(AttributedString::new).toList(), 0);
    }

    /** Waits for a key until the time is over. @return whether it was q */
    boolean isLeft(Duration wait) throws IOException {
        long until = System.nanoTime() + wait.toNanos();
        long left = wait.toMillis();
        while (left > 0) {
            int key = terminal.reader().read(left);
            if (key == 'q' || key == NonBlockingReader.EOF) {
                return true;
            }
            left = Duration.ofNanos(until - System.nanoTime()).toMillis();
        }
        return false;
    }

    @Override
    public void close() throws IOException {
        terminal.puts(Capability.cursor_visible);
        terminal.puts(Capability.exit_ca_mode);
        terminal.setAttributes(original);
        terminal.close();
    }
}

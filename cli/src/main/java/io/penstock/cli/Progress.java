package io.penstock.cli;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jline.terminal.Terminal;

/**
 * Reports progress: on a terminal in one changing line, with a bar if the share done is known; elsewhere in a line
 * every ten seconds. Thread-safe.
 */
final class Progress implements AutoCloseable {
    private static final long EACH_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long EACH_LINE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final int USUAL_COLUMNS = 80;
    private static final int BAR_COLUMNS = 20;

    private final PrintWriter to;
    private final int columns;
    private final LongSupplier nanoClock;

    @GuardedBy("this")
    private long told;

    @GuardedBy("this")
    private int width;

    /** @param columns the width of the terminal; 0 if there is none */
    Progress(PrintWriter to, int columns, LongSupplier nanoClock) {
        this.to = to;
        this.columns = columns;
        this.nanoClock = nanoClock;
        this.told = nanoClock.getAsLong();
    }

    /** Writes to the user's terminal, if standard error is one. */
    static Progress toUser(PrintWriter err) {
        boolean isTerminal = Boolean.getBoolean("penstock.errors-on-terminal"); // bin/penstock knows; Java cannot tell
        return new Progress(err, isTerminal ? terminalColumns() : 0, System::nanoTime);
    }

    private static int terminalColumns() {
        try (Terminal terminal = LiveTerminal.ofProcess()) {
            int columns = terminal.getSize().getColumns();
            return columns > 0 ? columns : USUAL_COLUMNS;
        } catch (IOException e) {
            return USUAL_COLUMNS;
        }
    }

    /** Shows the text if the last one is old enough. */
    void tell(String text) {
        show("", text);
    }

    /**
     * The same, with a bar on a terminal.
     *
     * @param share the share done, 0 to 1
     */
    void tell(double share, String text) {
        int done = (int) (BAR_COLUMNS * Math.clamp(share, 0, 1));
        show("[" + "#".repeat(done) + ".".repeat(BAR_COLUMNS - done) + "] ", text);
    }

    private synchronized void show(String bar, String text) {
        long now = nanoClock.getAsLong();
        if (now - told < (columns > 0 ? EACH_NANOS : EACH_LINE_NANOS)) {
            return;
        }
        told = now;
        if (columns > 0) {
            String all = bar + text;
            String line = all.substring(0, Math.min(all.length(), columns - 1)); // a wrapped line cannot be changed
            to.print('\r' + line + " ".repeat(Math.max(0, width - line.length())));
            width = line.length();
        } else {
            to.println(text);
        }
        to.flush();
    }

    /** Clears the line on the terminal. */
    @Override
    public synchronized void close() {
        if (width > 0) {
            to.print('\r' + " ".repeat(width) + '\r');
            to.flush();
            width = 0;
        }
    }
}

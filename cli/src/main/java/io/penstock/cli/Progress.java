package io.penstock.cli;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.PrintWriter;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Reports progress: on a terminal in one line that changes, elsewhere in a line every ten seconds. Safe for use by
 * several threads.
 */
final class Progress implements AutoCloseable {
    private static final long EACH_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long EACH_LINE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final PrintWriter to;
    private final boolean terminal;
    private final LongSupplier nanoClock;

    @GuardedBy("this")
    private long told;

    @GuardedBy("this")
    private int width;

    Progress(PrintWriter to, boolean terminal, LongSupplier nanoClock) {
        this.to = to;
        this.terminal = terminal;
        this.nanoClock = nanoClock;
        this.told = nanoClock.getAsLong();
    }

    /** Shows the text if the last one is old enough. */
    synchronized void tell(String text) {
        long now = nanoClock.getAsLong();
        if (now - told < (terminal ? EACH_NANOS : EACH_LINE_NANOS)) {
            return;
        }
        told = now;
        if (terminal) {
            to.print('\r' + text + " ".repeat(Math.max(0, width - text.length())));
            width = text.length();
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

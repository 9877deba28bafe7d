package io.penstock.share;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Has a node skipped that has failed several times in a row: one request every few seconds tries whether it is well again.
 * Safe for use by any number of threads.
 */
final class Breaker {
    static final int FAILURES = 3;
    static final Duration PAUSE = Duration.ofSeconds(5);

    private final LongSupplier nanoTime;

    /** In a row. */
    @GuardedBy("this")
    private int failures;

    /** By nanoTime; counts from {@link #FAILURES} failures on. */
    @GuardedBy("this")
    private long nextTrial;

    /** @param nanoTime as {@link System#nanoTime} */
    Breaker(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Whether a request may be made now. A trial that ends neither well nor badly is followed by the next. */
    synchronized boolean tryAsk() {
        if (!isOpen()) {
            return true;
        }
        long now = nanoTime.getAsLong();
        if (now - nextTrial < 0) {
            return false;
        }
        nextTrial = now + PAUSE.toNanos();
        return true;
    }

    synchronized boolean isOpen() {
        return failures >= FAILURES;
    }

    synchronized void succeeded() {
        failures = 0;
    }

    synchronized void failed() {
        failures = Math.min(failures + 1, FAILURES);
        nextTrial = nanoTime.getAsLong() + PAUSE.toNanos();
    }
}

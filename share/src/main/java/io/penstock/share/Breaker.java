package io.penstock.share;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Has a node skipped that has failed several times in a row: one request after a pause tries whether it is well again. Each
 * trial that fails costs a reader seconds, so that pauses grow. Safe for use by any number of threads.
 */
final class Breaker {
    static final int FAILURES = 3;
    static final Duration PAUSE = Duration.ofSeconds(5);

    /** Each pause is twice as long as the one before, up to this. */
    static final Duration LONGEST_PAUSE = Duration.ofSeconds(60);

    private final LongSupplier nanoTime;

    /** In a row. */
    @GuardedBy("this")
    private int failures;

    /** By nanoTime, as the next. */
    @GuardedBy("this")
    private long lastFailure;

    /** Counts from {@link #FAILURES} failures on. */
    @GuardedBy("this")
    private long nextTrial;

    /** Nanoseconds. */
    @GuardedBy("this")
    private long pause = PAUSE.toNanos();

    /** @param nanoTime as {@link System#nanoTime} */
    Breaker(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Whether a request may be made now. A trial that ends neither well nor badly is followed by the next. */
    synchronized boolean tryAsk() {
        if (!mayAsk()) {
            return false;
        }
        if (isOpen()) {
            pause = Math.min(2 * pause, LONGEST_PAUSE.toNanos());
            nextTrial = nanoTime.getAsLong() + pause;
        }
        return true;
    }

    /** What {@link #tryAsk} would say now. It uses no trial up. */
    synchronized boolean mayAsk() {
        return !isOpen() || nanoTime.getAsLong() - nextTrial >= 0;
    }

    synchronized boolean isOpen() {
        return failures >= FAILURES;
    }

    synchronized void succeeded() {
        failures = 0;
        pause = PAUSE.toNanos();
    }

    /**
     * A request has failed. All that run when a node stalls fail, and count once.
     *
     * @param begun when it was asked, by nanoTime
     */
    synchronized void failed(long begun) {
        if (failures > 0 && begun - lastFailure < 0) {
            return;
        }
        failures = Math.min(failures + 1, FAILURES);
        lastFailure = nanoTime.getAsLong();
        nextTrial = lastFailure + pause;
    }
}

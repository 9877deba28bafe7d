package io.penstock.share;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Skips a node that has failed several times in a row; after a pause, one request tries whether it has recovered. Each
 * failed trial costs a reader seconds, so the pauses grow. Safe for use by any number of threads.
 */
final class Breaker {
    static final int FAILURES = 3;
    static final Duration PAUSE = Duration.ofSeconds(5);

    /** Each pause is twice as long as the previous one, up to this. */
    static final Duration LONGEST_PAUSE = Duration.ofSeconds(60);

    private final LongSupplier nanoTime;

    /** In a row. */
    @GuardedBy("this")
    private int failures;

    /** A nanoTime, like the next field. */
    @GuardedBy("this")
    private long lastFailure;

    /** Valid from {@link #FAILURES} failures on. */
    @GuardedBy("this")
    private long nextTrial;

    /** In nanoseconds. */
    @GuardedBy("this")
    private long pause = PAUSE.toNanos();

    /** @param nanoTime such as {@link System#nanoTime} */
    Breaker(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Whether a request may be made now. A trial without an outcome is followed by the next one. */
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

    /** What {@link #tryAsk} would return now, without using up a trial. */
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
     * A request has failed. When a node stalls, all running requests fail, and count once.
     *
     * @param begun when the request began, by nanoTime
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

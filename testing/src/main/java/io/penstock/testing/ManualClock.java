package io.penstock.testing;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** A clock that stands still until a test moves it. Thread-safe. */
public final class ManualClock implements InstantSource {
    /** Long enough for a loaded machine; reaching it is a failure, never a pass. */
    private static final long PATIENCE_MILLIS = 30_000;

    @GuardedBy("this")
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");

    @GuardedBy("this")
    private int sleepers;

    @Override
    public synchronized Instant instant() {
        return now;
    }

    /** Nanoseconds from an arbitrary origin, for code that measures with a nanosecond ticker. */
    public synchronized long nanoTime() {
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }

    /** Moves the clock and wakes the threads whose time has come. */
    public synchronized void advance(Duration duration) {
        now = now.plus(duration);
        notifyAll();
    }

    /** Waits until the clock has moved forward by this much. */
    public synchronized void sleep(Duration duration) throws InterruptedException {
        Instant end = now.plus(duration);
        sleepers++;
        notifyAll();
        try {
            while (now.isBefore(end)) {
                wait();
            }
        } finally {
            sleepers--;
        }
    }

    /**
     * Waits until at least this many threads sleep on this clock.
     *
     * @throws AssertionError if that does not happen in time
     */
    public synchronized void awaitSleepers(int count) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE_MILLIS * 1_000_000;
        while (sleepers < count) {
            long left = (deadline - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                throw new AssertionError("expected " + count + " sleepers, found " + sleepers);
            }
            wait(left);
        }
    }
}

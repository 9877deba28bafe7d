package io.penstock.listing;

import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Carries times of a process's nano clock to another process by way of the wall clock. One instance represents one
 * moment. A time that is read again has its true age, or up to a millisecond more. If the wall clock is behind that of
 * the writer, the age is unknown and considered too old. (A clock that was set back by less than the time since then
 * makes it look younger by that amount, which cannot be detected.)
 */
final class WallTimes {
    /** 146 years in nanoseconds: older than any validity, and still comparable with times of the nano clock. */
    static final long TOO_OLD = Long.MAX_VALUE / 2;

    private static final long NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** Now, on the nano clock. */
    private final long nanoTime;

    /** Now, in nanoseconds since 1970. */
    private final long wallNanos;

    WallTimes(LongSupplier nanoClock, InstantSource clock) {
        Instant now = clock.instant();
        this.wallNanos = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
        this.nanoTime = nanoClock.getAsLong();
    }

    /** Now, in milliseconds since 1970. */
    long millis() {
        return Math.floorDiv(wallNanos, NANOS);
    }

    /** A time of the nano clock in milliseconds since 1970, not later than now. */
    long millis(long time) {
        return Math.floorDiv(wallNanos - Math.max(0, nanoTime - time), NANOS);
    }

    /**
     * The time on the nano clock, not later than now.
     *
     * @param millis written by another process
     * @param writtenMillis the time of that writing: not before {@code millis}
     */
    long nanoTime(long millis, long writtenMillis) {
        boolean wasSetBack = millis() < writtenMillis;
        boolean isKnown =
                !wasSetBack && millis <= writtenMillis && millis >= millis() - TimeUnit.NANOSECONDS.toMillis(TOO_OLD);
        return nanoTime - (isKnown ? wallNanos - millis * NANOS : TOO_OLD);
    }
}

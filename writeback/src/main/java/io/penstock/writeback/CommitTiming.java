package io.penstock.writeback;

import java.util.concurrent.TimeUnit;

/**
 * How long commits wait, and how long callers wait for them. Nanoseconds.
 *
 * @param firstPause after the first failure of a commit in the background; doubled after each further failure
 * @param longestPause between two attempts
 * @param patience how long a caller that wants a file staged waits for a request in flight: most end earlier
 * @param delay between the close of a new, staged file and its commit: most programs that rename a file or set its
 *     times do so right after closing it
 */
record CommitTiming(long firstPause, long longestPause, long patience, long delay) {
    static final CommitTiming DEFAULT = new CommitTiming(
            TimeUnit.SECONDS.toNanos(1),
            TimeUnit.SECONDS.toNanos(60),
            TimeUnit.SECONDS.toNanos(1),
            TimeUnit.SECONDS.toNanos(1));

    /** The first attempt is due now. */
    RetrySchedule immediate() {
        return new RetrySchedule(System.nanoTime(), firstPause, longestPause);
    }

    /** The first attempt is due once a new, closed file has had time to be renamed. */
    RetrySchedule afterDelay() {
        return new RetrySchedule(System.nanoTime() + delay, firstPause, longestPause);
    }

    /**
     * When the next attempt in the background is due.
     *
     * @param notBefore {@link System#nanoTime} of the earliest attempt
     * @param pause how long to wait after a failed attempt
     */
    record RetrySchedule(long notBefore, long pause, long longestPause) {
        RetrySchedule afterFailure() {
            long now = System.nanoTime();
            return notBefore - now > 0
                    ? this
                    : new RetrySchedule(now + pause, Math.min(2 * pause, longestPause), longestPause);
        }
    }
}

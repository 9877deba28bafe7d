package io.penstock.writeback;

import java.util.concurrent.TimeUnit;

/**
 * How long commits wait, and how long callers wait for them. Nanoseconds.
 *
 * @param firstPause after the first failure of a commit in the background; doubled after each further failure
 * @param longestPause between two attempts
 * @param patience how long a caller that wants a file staged waits for a request in flight: most end earlier
 * @param settling between the close of a new, staged file and its commit: most programs that rename a file or set its
 *     times do so right after closing it
 */
record Pacing(long firstPause, long longestPause, long patience, long settling) {
    static final Pacing DEFAULT = new Pacing(
            TimeUnit.SECONDS.toNanos(1),
            TimeUnit.SECONDS.toNanos(60),
            TimeUnit.SECONDS.toNanos(1),
            TimeUnit.SECONDS.toNanos(1));

    /** The first attempt is due now. */
    Pace atOnce() {
        return new Pace(System.nanoTime(), firstPause, longestPause);
    }

    /** The first attempt is due once a new, closed file has had time to be renamed. */
    Pace onceSettled() {
        return new Pace(System.nanoTime() + settling, firstPause, longestPause);
    }

    /**
     * When the next attempt in the background is due.
     *
     * @param notBefore by the clock of nanoseconds
     * @param pause how long to wait after that if the attempt fails
     */
    record Pace(long notBefore, long pause, long longestPause) {
        Pace afterAFailure() {
            long now = System.nanoTime();
            return notBefore - now > 0 ? this : new Pace(now + pause, Math.min(2 * pause, longestPause), longestPause);
        }
    }
}

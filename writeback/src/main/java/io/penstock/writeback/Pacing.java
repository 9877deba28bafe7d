package io.penstock.writeback;

import java.util.concurrent.TimeUnit;

/**
 * How long commits wait, and are waited for. Nanoseconds.
 *
 * @param firstPause after a first failure of a commit in the background; each later one is twice as long
 * @param longestPause between two attempts
 * @param patience of a caller that wants a file staged, with a request to the store that is under way: most end earlier
 * @param settling between the close of a new file that is staged and its commit: programs that rename a file, or set its
 *     times, mostly do so right after they have closed it
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

    /** The first attempt is due once a new file that was closed has had time to get its name. */
    Pace onceSettled() {
        return new Pace(System.nanoTime() + settling, firstPause, longestPause);
    }

    /**
     * When the next attempt in the background is due.
     *
     * @param notBefore by the clock of nanoseconds
     * @param pause how long to wait after that if it fails
     */
    record Pace(long notBefore, long pause, long longestPause) {
        Pace afterAFailure() {
            long now = System.nanoTime();
            return notBefore - now > 0 ? this : new Pace(now + pause, Math.min(2 * pause, longestPause), longestPause);
        }
    }
}

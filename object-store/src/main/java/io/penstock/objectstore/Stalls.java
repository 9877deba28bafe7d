package io.penstock.objectstore;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;

/**
 * How long the store is usually silent before it responds to a GET, and how many GETs may be asked again because it has
 * been silent for much longer. The rest of such a GET is requested on another connection: one stalled connection in a
 * hundred would otherwise hold its reader until the read timeout. The bound is that of {@link ResponseTimes}. Safe for use by
 * any number of threads.
 */
final class Stalls {
    /** Requests that may come on top of a hundred. */
    private static final int PERCENT = 3;

    /** As many are saved up at most: what a store that stalls as a whole is asked in vain. */
    private static final int MOST_SAVED = 8;

    /** No silence that is shorter counts as a stall: the schedulers of a busy client and store take as long. */
    private static final Duration SHORTEST = Duration.ofMillis(50);

    @GuardedBy("this")
    private final ResponseTimes times = new ResponseTimes();

    /** In hundredths of a request. To begin with there are two. */
    @GuardedBy("this")
    private int budget = 200;

    /** A GET's first byte has come. */
    synchronized void responded(long nanos) {
        times.responded(nanos);
        budget = Math.min(budget + PERCENT, 100 * MOST_SAVED);
    }

    /** Nanoseconds of silence after which a GET is asked again; {@link Long#MAX_VALUE} while too few responses are known. */
    synchronized long longest() {
        return Math.max(SHORTEST.toNanos(), times.bound());
    }

    /** Takes one request from the budget, if there is one. */
    synchronized boolean mayAskAgain() {
        boolean may = budget >= 100;
        budget -= may ? 100 : 0;
        return may;
    }
}

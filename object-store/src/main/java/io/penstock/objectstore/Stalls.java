package io.penstock.objectstore;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;

/**
 * How long the store is usually silent before it responds to a GET, and how many GETs may be asked again because it has
 * been silent for much longer. The rest of such a GET is requested on another connection: one stalled connection in a
 * hundred would otherwise hold its reader until the read timeout. The bound is that of RFC 6298 for TCP, the mean and four
 * times the mean deviation. Safe for use by any number of threads.
 */
final class Stalls {
    /** Requests that may come on top of a hundred. */
    private static final int PERCENT = 3;

    /** As many are saved up at most: what a store that stalls as a whole is asked in vain. */
    private static final int MOST_SAVED = 8;

    /** No silence that is shorter counts as a stall: the schedulers of a busy client and store take as long. */
    private static final Duration SHORTEST = Duration.ofMillis(50);

    /** So many responses make a mean. */
    private static final int FEW = 16;

    /** A new response counts for one part in so many. */
    private static final int WEIGHT = 16;

    @GuardedBy("this")
    private long responses;

    /** Nanoseconds. */
    @GuardedBy("this")
    private long mean;

    /** Nanoseconds. */
    @GuardedBy("this")
    private long deviation;

    /** In hundredths of a request. To begin with there are two. */
    @GuardedBy("this")
    private int budget = 200;

    /** A GET's first byte has come. */
    synchronized void responded(long nanos) {
        if (responses++ == 0) {
            mean = nanos;
            deviation = nanos / 2;
        } else {
            deviation += (Math.abs(nanos - mean) - deviation) / WEIGHT;
            mean += (nanos - mean) / WEIGHT;
        }
        budget = Math.min(budget + PERCENT, 100 * MOST_SAVED);
    }

    /** Nanoseconds of silence after which a GET is asked again; {@link Long#MAX_VALUE} while too few responses are known. */
    synchronized long longest() {
        return responses < FEW ? Long.MAX_VALUE : Math.max(SHORTEST.toNanos(), mean + 4 * deviation);
    }

    /** Takes one request from the budget, if there is one. */
    synchronized boolean mayAskAgain() {
        boolean may = budget >= 100;
        budget -= may ? 100 : 0;
        return may;
    }
}

package io.penstock.objectstore.http;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.objectstore.ResponseTimes;
import java.time.Duration;

/**
 * How long the store is usually silent before it responds to a GET, and how many GETs may be repeated because the store
 * has been silent for much longer. The rest of such a GET is requested on another connection. Otherwise one stalled
 * connection in a hundred would delay its reader until the read timeout. The bound is that of {@link ResponseTimes}.
 * Safe for use by any number of threads.
 */
public final class Stalls {
    /** Extra requests allowed for every hundred. */
    private static final int PERCENT = 3;

    /** The maximum that accumulates: repeating requests is useless if the whole store stalls. */
    private static final int MOST_SAVED = 8;

    /** A shorter silence is never a stall: the schedulers of a busy client and store can cause it. */
    private static final Duration SHORTEST = Duration.ofMillis(50);

    @GuardedBy("this")
    private final ResponseTimes times = new ResponseTimes();

    /** In hundredths of a request. Starts at two requests. */
    @GuardedBy("this")
    private int budget = 200;

    /** Records the time until a GET's first byte. */
    public synchronized void responded(long nanos) {
        times.responded(nanos);
        budget = Math.min(budget + PERCENT, 100 * MOST_SAVED);
    }

    /** Nanoseconds of silence after which a GET is repeated; {@link Long#MAX_VALUE} while responses are few. */
    public synchronized long longest() {
        return Math.max(SHORTEST.toNanos(), times.bound());
    }

    /** Takes one request from the budget, if there is one. */
    synchronized boolean mayAskAgain() {
        boolean may = budget >= 100;
        budget -= may ? 100 : 0;
        return may;
    }
}

package io.penstock.share;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.objectstore.ResponseTimes;
import java.time.Duration;

/**
 * The timeout for a silent node: the bound of {@link ResponseTimes}, and a long one until enough responses are known.
 * Safe for use by any number of threads.
 */
final class ResponseTimeout {
    /** The owner may have to send a GET first, and the schedulers of a busy machine take some time too. */
    static final Duration SHORTEST = Duration.ofSeconds(1);

    /** A JVM that has just started interprets its ciphers. */
    static final Duration LONGEST = Duration.ofSeconds(5);

    @GuardedBy("this")
    private final ResponseTimes times = new ResponseTimes();

    synchronized void responded(long nanos) {
        times.responded(nanos);
    }

    /**
     * There was no response within so many nanoseconds. Counts as a response if that is unusually long: otherwise a
     * node that has become slow would always be judged by the responses that were fast enough.
     */
    synchronized void timedOut(long nanos) {
        if (nanos >= get().toNanos()) {
            times.responded(nanos);
        }
    }

    synchronized Duration get() {
        return Duration.ofNanos(Math.clamp(times.bound(), SHORTEST.toNanos(), LONGEST.toNanos()));
    }
}

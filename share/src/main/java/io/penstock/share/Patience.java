package io.penstock.share;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.objectstore.ResponseTimes;
import java.time.Duration;

/**
 * How long a node may be silent: the bound of {@link ResponseTimes}, and much while few responses are known. Safe for use by
 * any number of threads.
 */
final class Patience {
    /** What the owner has to fetch takes a GET's time, and a busy machine's schedulers some of it. */
    static final Duration SHORTEST = Duration.ofSeconds(1);

    /** A JVM that has just begun interprets its ciphers. */
    static final Duration LONGEST = Duration.ofSeconds(5);

    @GuardedBy("this")
    private final ResponseTimes times = new ResponseTimes();

    synchronized void responded(long nanos) {
        times.responded(nanos);
    }

    /**
     * A response has not come for so many nanoseconds. It takes longer than is usual: else a node that has become slow would be
     * judged for ever by the responses that were quick enough.
     */
    synchronized void gaveUp(long nanos) {
        if (nanos >= silence().toNanos()) {
            times.responded(nanos);
        }
    }

    synchronized Duration silence() {
        return Duration.ofNanos(Math.clamp(times.bound(), SHORTEST.toNanos(), LONGEST.toNanos()));
    }
}

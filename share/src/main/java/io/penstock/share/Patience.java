package io.penstock.share;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;

/**
 * How long a node may be silent: the mean of what its responses took and four times the mean deviation (RFC 6298), and much
 * while few are known. Safe for use by any number of threads.
 */
final class Patience {
    /** What the owner has to fetch takes a GET's time, and a busy machine's schedulers some of it. */
    static final Duration SHORTEST = Duration.ofSeconds(1);

    /** A JVM that has just begun interprets its ciphers. */
    static final Duration LONGEST = Duration.ofSeconds(5);

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

    synchronized void responded(long nanos) {
        if (responses++ == 0) {
            mean = nanos;
            deviation = nanos / 2;
        } else {
            deviation += (Math.abs(nanos - mean) - deviation) / WEIGHT;
            mean += (nanos - mean) / WEIGHT;
        }
    }

    synchronized Duration silence() {
        return responses < FEW
                ? LONGEST
                : Duration.ofNanos(Math.clamp(mean + 4 * deviation, SHORTEST.toNanos(), LONGEST.toNanos()));
    }
}

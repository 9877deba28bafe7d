package io.penstock.fuse.kernel;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The maximum time for which the kernel caches names and attributes. Safe for use by any number of threads. */
final class CachingLimit {
    private volatile long nanos;

    /** @param longest 0 or more */
    CachingLimit(Duration longest) {
        set(longest);
    }

    void set(Duration longest) {
        nanos = TimeUnit.NANOSECONDS.convert(longest);
    }

    /** The shorter of this limit and the given time. */
    long cut(long validNanos) {
        return Math.min(validNanos, nanos);
    }
}

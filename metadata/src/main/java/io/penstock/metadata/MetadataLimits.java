package io.penstock.metadata;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * How long answers about names are valid now, and the current concurrency of listings: read where they are used. A
 * change also applies to answers given before it. Safe for use by any number of threads.
 */
public final class MetadataLimits {
    private volatile MetadataConfig values;

    MetadataLimits(MetadataConfig values) {
        this.values = values;
    }

    /** For names that exist, and for whole listings: nanoseconds. */
    public long ttlNanos() {
        return TimeUnit.NANOSECONDS.convert(values.ttl());
    }

    /** For names that do not exist: nanoseconds, small enough that twice as many fit into a long. */
    long negativeTtlNanos() {
        return Math.min(Long.MAX_VALUE / 2, TimeUnit.NANOSECONDS.convert(values.negativeTtl()));
    }

    Duration ttl() {
        return values.ttl();
    }

    /** The longer of both. */
    Duration longest() {
        return values.longest();
    }

    int listConcurrency() {
        return values.listConcurrency();
    }

    void set(MetadataConfig changed) {
        values = changed;
    }
}

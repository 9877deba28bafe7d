package io.penstock.metadata;

import io.penstock.objectstore.ListRequest;
import java.time.Duration;

/**
 * How long answers about names are cached, and how many. With a time to live of zero, each lookup asks the store.
 *
 * @param ttl for existing names, and for whole listings; 0 or more
 * @param negativeTtl for names that do not exist; 0 or more
 * @param mostListed maximum number of cached listed entries, in all directories together; half as many of one directory
 * @param listConcurrency concurrent listing requests for a large directory, or for the whole bucket: 1 or more
 * @param preload when the whole bucket is listed
 */
public record MetadataConfig(
        Duration ttl, Duration negativeTtl, int mostListed, int listConcurrency, PreloadConfig preload) {
    /** Maximum heap bytes of a listed entry. */
    static final int ENTRY_BYTES = 450;

    /** More entries are not worth their heap. */
    private static final int WORTHWHILE = 2_000_000;

    /** A reader of a directory must never be ahead of the entries kept. */
    private static final int LEAST_LISTED = 8 * ListRequest.MAX_KEYS;

    /** Without listing the bucket. */
    public MetadataConfig(Duration ttl, Duration negativeTtl, int mostListed) {
        this(ttl, negativeTtl, mostListed, 1, PreloadConfig.OFF);
    }

    /** With half of the heap for listed entries. */
    public MetadataConfig(Duration ttl, Duration negativeTtl, int listConcurrency, PreloadConfig preload) {
        this(ttl, negativeTtl, worthwhile(), listConcurrency, preload);
    }

    /** With half of the heap for listed entries, and without listing the bucket. */
    public MetadataConfig(Duration ttl, Duration negativeTtl) {
        this(ttl, negativeTtl, worthwhile());
    }

    private static int worthwhile() {
        return (int) Math.min(WORTHWHILE, Runtime.getRuntime().maxMemory() / 2 / ENTRY_BYTES);
    }

    public MetadataConfig {
        if (ttl.isNegative() || negativeTtl.isNegative()) {
            throw new IllegalArgumentException(
                    "metadata.ttl (" + ttl + ") and metadata.negative-ttl (" + negativeTtl + ") must not be negative");
        }
        if (listConcurrency < 1) {
            throw new IllegalArgumentException("metadata.list-concurrency must be 1 or more, not " + listConcurrency);
        }
        if (mostListed < LEAST_LISTED) {
            throw new IllegalArgumentException(
                    mostListed + " listed entries are too few; the minimum is " + LEAST_LISTED);
        }
    }

    /** The maximum number of cached entries of one directory. */
    int mostListedOfOne() {
        return mostListed / 2;
    }

    /** The longest time to live. */
    Duration longest() {
        return ttl.compareTo(negativeTtl) > 0 ? ttl : negativeTtl;
    }
}

package io.penstock.metadata;

import io.penstock.objectstore.ListRequest;
import java.time.Duration;

/**
 * How long answers about names are believed, and how many are kept. A time of zero asks the store every time.
 *
 * @param ttl for what exists, and for whole listings; 0 or more
 * @param negativeTtl for what does not exist; 0 or more
 * @param mostListed listed entries that are kept at most, in all directories together; of one directory, half as many
 * @param listConcurrency listing requests at once for a large directory, or for the whole bucket: 1 or more
 * @param preload when the whole bucket is listed
 */
public record MetadataConfig(
        Duration ttl, Duration negativeTtl, int mostListed, int listConcurrency, PreloadConfig preload) {
    /** Bytes of heap that a listed entry takes, at most. */
    static final int ENTRY_BYTES = 450;

    /** More are not worth their heap. */
    private static final int WORTHWHILE = 2_000_000;

    /** So that who reads a directory is never ahead of what is kept of it. */
    private static final int LEAST_LISTED = 8 * ListRequest.MAX_KEYS;

    /** Without a listing ahead. */
    public MetadataConfig(Duration ttl, Duration negativeTtl, int mostListed) {
        this(ttl, negativeTtl, mostListed, 1, PreloadConfig.OFF);
    }

    /** With half of the heap for what is listed. */
    public MetadataConfig(Duration ttl, Duration negativeTtl, int listConcurrency, PreloadConfig preload) {
        this(ttl, negativeTtl, worthwhile(), listConcurrency, preload);
    }

    /** With half of the heap for what is listed, and none ahead. */
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
            throw new IllegalArgumentException("metadata.list-concurrency is " + listConcurrency + ", not 1 or more");
        }
        if (mostListed < LEAST_LISTED) {
            throw new IllegalArgumentException(
                    mostListed + " listed entries are too few: " + LEAST_LISTED + " at least");
        }
    }

    /** Listed entries that are kept of one directory at most. */
    int mostListedOfOne() {
        return mostListed / 2;
    }

    /** How long anything is worth keeping. */
    Duration longest() {
        return ttl.compareTo(negativeTtl) > 0 ? ttl : negativeTtl;
    }
}

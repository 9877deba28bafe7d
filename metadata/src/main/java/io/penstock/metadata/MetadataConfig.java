package io.penstock.metadata;

import java.time.Duration;

/**
 * How long answers about names are believed. Zero asks the store every time.
 *
 * @param ttl for what exists, and for whole listings; 0 or more
 * @param negativeTtl for what does not exist; 0 or more
 */
public record MetadataConfig(Duration ttl, Duration negativeTtl) {
    public MetadataConfig {
        if (ttl.isNegative() || negativeTtl.isNegative()) {
            throw new IllegalArgumentException(
                    "metadata.ttl (" + ttl + ") and metadata.negative-ttl (" + negativeTtl + ") must not be negative");
        }
    }

    /** How long anything is worth keeping. */
    Duration longest() {
        return ttl.compareTo(negativeTtl) > 0 ? ttl : negativeTtl;
    }
}

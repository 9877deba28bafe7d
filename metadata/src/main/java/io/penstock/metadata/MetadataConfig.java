package io.penstock.metadata;

import java.time.Duration;

/**
 * How long answers about names are believed.
 *
 * @param ttl for what exists, and for whole listings
 * @param negativeTtl for what does not exist
 */
public record MetadataConfig(Duration ttl, Duration negativeTtl) {}

package io.penstock.prefetch;

/**
 * Bounds of readahead.
 *
 * @param maxWindowBytes how far readahead runs before a stream at most; 0 turns it off
 * @param rangeSizeBytes most bytes that one GET asks for; one page or more
 * @param concurrency most GETs at once in the mount; 1 or more
 */
public record ReadaheadConfig(long maxWindowBytes, long rangeSizeBytes, int concurrency) {}

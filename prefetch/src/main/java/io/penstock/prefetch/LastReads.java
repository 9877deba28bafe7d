package io.penstock.prefetch;

import java.util.Map;

/**
 * How the last reads of a version were answered, except those that the kernel answered itself.
 *
 * @param sources the number of the last reads, {@value ReadHistory#KEPT} at most, by source; without zeros
 * @param storeNanos nanoseconds that all remembered reads waited for the store
 * @param nvmeNanos the same for NVMe
 * @param limitNanos the same for memory or a GET slot
 * @param ahead why it was last fetched ahead
 */
public record LastReads(
        Map<ReadSource, Integer> sources, long storeNanos, long nvmeNanos, long limitNanos, FetchedAhead ahead) {}

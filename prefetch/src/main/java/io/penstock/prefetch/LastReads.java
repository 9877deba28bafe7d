package io.penstock.prefetch;

import java.util.Map;

/**
 * How the last reads of a version were answered; reads that the kernel answers are not among them.
 *
 * @param sources of the last ones, {@value ReadHistory#KEPT} at most: how many there were of each; none at 0
 * @param storeNanos nanoseconds that all reads waited for the store, as long as they are remembered
 * @param nvmeNanos the same for NVMe
 * @param limitNanos the same for memory, or for the turn of a GET
 * @param ahead why it was fetched ahead last
 */
public record LastReads(
        Map<ReadSource, Integer> sources, long storeNanos, long nvmeNanos, long limitNanos, FetchedAhead ahead) {}

package io.penstock.cache;

import io.penstock.cache.disk.Counters;

/**
 * Counters since the cache was opened, and its current size. Each read counts every page that it touches once.
 *
 * @param memoryHits page reads served from memory
 * @param diskHits page reads served from NVMe
 * @param waits page reads that waited for a page in flight
 * @param misses page reads that found the page Missing
 * @param memoryReadBytes bytes that readers got from memory
 * @param diskReadBytes bytes that readers got from NVMe
 * @param waitedReadBytes bytes that readers got from pages in flight, after waiting
 * @param waitNanos nanoseconds that readers waited for pages in flight, including those they had found Missing
 * @param diskNanos nanoseconds that readers waited for NVMe
 * @param filledPages pages that became Ready
 * @param failedFills pages whose fill failed or was cancelled
 * @param evictedPages pages evicted to make space
 * @param corruptPages pages whose checksum did not match
 * @param diskErrors failed reads and writes of the cache folder; none of them made a reader's call fail
 * @param unstoredPages pages that were not written to NVMe because it was full, slow or sick
 * @param memoryBytes bytes of pages in memory now
 * @param diskBytes bytes of pages on NVMe now
 */
public record CacheStatistics(
        long memoryHits,
        long diskHits,
        long waits,
        long misses,
        long memoryReadBytes,
        long diskReadBytes,
        long waitedReadBytes,
        long waitNanos,
        long diskNanos,
        long filledPages,
        long failedFills,
        long evictedPages,
        long corruptPages,
        long diskErrors,
        long unstoredPages,
        long memoryBytes,
        long diskBytes) {
    static CacheStatistics of(Counters counters, long diskErrors, long memoryBytes, long diskBytes) {
        return new CacheStatistics(
                counters.memoryHits.sum(),
                counters.diskHits.sum(),
                counters.waits.sum(),
                counters.misses.sum(),
                counters.memoryReadBytes.sum(),
                counters.diskReadBytes.sum(),
                counters.waitedReadBytes.sum(),
                counters.waitNanos.sum(),
                counters.diskNanos.sum(),
                counters.filledPages.sum(),
                counters.failedFills.sum(),
                counters.evictedPages.sum(),
                counters.corruptPages.sum(),
                diskErrors,
                counters.unstoredPages.sum(),
                memoryBytes,
                diskBytes);
    }
}

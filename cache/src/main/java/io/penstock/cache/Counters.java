package io.penstock.cache;

import java.util.concurrent.atomic.LongAdder;

/** The counters of {@link CacheStatistics}. */
final class Counters {
    final LongAdder memoryHits = new LongAdder();
    final LongAdder diskHits = new LongAdder();
    final LongAdder waits = new LongAdder();
    final LongAdder misses = new LongAdder();
    final LongAdder memoryReadBytes = new LongAdder();
    final LongAdder diskReadBytes = new LongAdder();
    final LongAdder waitedReadBytes = new LongAdder();
    final LongAdder waitNanos = new LongAdder();
    final LongAdder diskNanos = new LongAdder();
    final LongAdder filledPages = new LongAdder();
    final LongAdder failedFills = new LongAdder();
    final LongAdder evictedPages = new LongAdder();
    final LongAdder corruptPages = new LongAdder();
    final LongAdder unstoredPages = new LongAdder();

    void readFromMemory(int bytes) {
        memoryHits.increment();
        memoryReadBytes.add(bytes);
    }

    void readFromDisk(int bytes) {
        diskHits.increment();
        diskReadBytes.add(bytes);
    }

    CacheStatistics snapshot(long diskErrors, long memoryBytes, long diskBytes) {
        return new CacheStatistics(
                memoryHits.sum(),
                diskHits.sum(),
                waits.sum(),
                misses.sum(),
                memoryReadBytes.sum(),
                diskReadBytes.sum(),
                waitedReadBytes.sum(),
                waitNanos.sum(),
                diskNanos.sum(),
                filledPages.sum(),
                failedFills.sum(),
                evictedPages.sum(),
                corruptPages.sum(),
                diskErrors,
                unstoredPages.sum(),
                memoryBytes,
                diskBytes);
    }
}

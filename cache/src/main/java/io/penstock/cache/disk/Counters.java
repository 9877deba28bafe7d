package io.penstock.cache.disk;

import java.util.concurrent.atomic.LongAdder;

/** The counters of {@code CacheStatistics}. */
public final class Counters {
    public final LongAdder memoryHits = new LongAdder();
    public final LongAdder diskHits = new LongAdder();
    public final LongAdder waits = new LongAdder();
    public final LongAdder misses = new LongAdder();
    public final LongAdder memoryReadBytes = new LongAdder();
    public final LongAdder diskReadBytes = new LongAdder();
    public final LongAdder waitedReadBytes = new LongAdder();
    public final LongAdder waitNanos = new LongAdder();
    public final LongAdder diskNanos = new LongAdder();
    public final LongAdder filledPages = new LongAdder();
    public final LongAdder failedFills = new LongAdder();
    public final LongAdder evictedPages = new LongAdder();
    public final LongAdder corruptPages = new LongAdder();
    public final LongAdder unstoredPages = new LongAdder();

    public void readFromMemory(int bytes) {
        memoryHits.increment();
        memoryReadBytes.add(bytes);
    }

    public void readFromDisk(int bytes) {
        diskHits.increment();
        diskReadBytes.add(bytes);
    }
}

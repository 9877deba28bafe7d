package io.penstock.serve.mount;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a process that does almost nothing but collect garbage. An almost full heap is collected again and again with
 * little gain. The serial collector never considers it full, and programs would wait for hours.
 */
final class HeapWatch {
    private static final Logger log = LoggerFactory.getLogger(HeapWatch.class);

    private static final Duration INTERVAL = Duration.ofSeconds(10);

    /** After this many consecutive intervals, the process ends. */
    static final int PATIENCE = 6;

    /** The maximum share of an interval. */
    private static final double MOST_COLLECTING = 0.9;

    private long observedAt;
    private long collected;
    private int wasted;

    /**
     * @param nanoTime now
     * @param collectedMillis total time of garbage collection so far
     */
    HeapWatch(long nanoTime, long collectedMillis) {
        observedAt = nanoTime;
        collected = collectedMillis;
    }

    static void start() {
        Thread.ofPlatform().daemon().name("penstock-heap").start(HeapWatch::run);
    }

    private static void run() {
        HeapWatch watch = new HeapWatch(System.nanoTime(), collectedMillis());
        try {
            do {
                Thread.sleep(INTERVAL);
            } while (!watch.isUsedUp(System.nanoTime(), collectedMillis()));
            log.error("This process has spent nearly all of the last minute in garbage collection");
            useUp();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the process ends
        }
    }

    /** Whether garbage collection has taken most of the time between calls for too long. */
    boolean isUsedUp(long nanoTime, long collectedMillis) {
        double share = (collectedMillis - collected) * 1e6 / (nanoTime - observedAt);
        wasted = share > MOST_COLLECTING ? wasted + 1 : 0;
        observedAt = nanoTime;
        collected = collectedMillis;
        return wasted >= PATIENCE;
    }

    private static long collectedMillis() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionTime)
                .sum();
    }

    /** Ends the JVM as a full heap does (bin/penstock): no heap has 16 GiB free. */
    private static void useUp() {
        long[] tooMuch = new long[Integer.MAX_VALUE - Long.BYTES];
        log.error("There was room for {} longs", tooMuch.length);
    }
}

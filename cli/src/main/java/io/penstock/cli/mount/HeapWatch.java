package io.penstock.cli.mount;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a process that does next to nothing but collect garbage. A heap that is all but used up is collected again and
 * again, and each time yields a little: the serial collector never finds that it is used up, and programs would wait for
 * hours.
 */
final class HeapWatch {
    private static final Logger log = LoggerFactory.getLogger(HeapWatch.class);

    private static final Duration INTERVAL = Duration.ofSeconds(10);

    /** So many intervals, one after another, are too many. */
    static final int PATIENCE = 6;

    /** Of an interval. */
    private static final double MOST_COLLECTING = 0.9;

    private long observedAt;
    private long collected;
    private int wasted;

    /**
     * @param nanoTime of now
     * @param collectedMillis for which garbage has been collected until now
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
            log.error("For a minute this process has done next to nothing but collect garbage");
            useUp();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the process ends
        }
    }

    /** Whether the time from one call to the next has long gone into collecting. */
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

    /** The JVM ends as it does when the heap is used up (bin/penstock): 16 GiB are more than is left of any. */
    private static void useUp() {
        long[] tooMuch = new long[Integer.MAX_VALUE - Long.BYTES];
        log.error("There was room for {} longs", tooMuch.length);
    }
}

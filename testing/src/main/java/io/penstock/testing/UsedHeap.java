package io.penstock.testing;

import java.lang.management.ManagementFactory;

/** Measures the heap. */
public final class UsedHeap {
    private UsedHeap() {}

    /** The bytes in use, after garbage collections until no more is freed. */
    public static long bytes() {
        long used = Long.MAX_VALUE;
        while (true) {
            System.gc();
            long now = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
            if (now >= used - 10_000) {
                return Math.min(now, used);
            }
            used = now;
        }
    }
}

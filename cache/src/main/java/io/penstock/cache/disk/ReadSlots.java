package io.penstock.cache.disk;

import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * Bounds the number of virtual threads that read from the cache's disk at the same time. Otherwise reads of a hanging
 * disk would stop all virtual threads, even those that serve from memory, fetch and upload.
 */
public final class ReadSlots {
    /** Less than 256, the scheduler's maximum number of carriers. */
    private static final int DIRECT = 64;

    private static final int CARRIERS = Integer.getInteger(
            "jdk.virtualThreadScheduler.parallelism", Runtime.getRuntime().availableProcessors());

    private final Semaphore slots;

    private ReadSlots(int count) {
        slots = new Semaphore(count);
    }

    /** For reads that block their carrier until the disk responds. Half of the carriers are left to other threads. */
    static ReadSlots holdingCarriers() {
        return new ReadSlots(Math.max(1, CARRIERS / 2));
    }

    /** For direct reads: FileChannelImpl reports these to the scheduler, which adds another carrier. */
    static ReadSlots direct() {
        return new ReadSlots(DIRECT);
    }

    /** Runs the read. A virtual thread first waits for a slot; slots come in any order. */
    public <T> T run(Supplier<T> reading) throws InterruptedException {
        if (!Thread.currentThread().isVirtual()) {
            return reading.get();
        }
        slots.acquire();
        try {
            return reading.get();
        } finally {
            slots.release();
        }
    }
}

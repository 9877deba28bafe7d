package io.penstock.cache.disk;

import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * Bounds how many virtual threads are in a read of the cache's disk at once. Reads of a disk that hangs would else stop all
 * virtual threads: those that answer from memory, fetch and upload, too.
 */
public final class ReadTurns {
    /** Less than the 256 carriers that the scheduler has at most. */
    private static final int DIRECT = 64;

    private static final int CARRIERS = Integer.getInteger(
            "jdk.virtualThreadScheduler.parallelism", Runtime.getRuntime().availableProcessors());

    private final Semaphore turns;

    private ReadTurns(int count) {
        turns = new Semaphore(count);
    }

    /** For reads that hold their carrier until the disk answers. Half of the carriers are left to all others. */
    static ReadTurns holdingCarriers() {
        return new ReadTurns(Math.max(1, CARRIERS / 2));
    }

    /** For direct reads, of which FileChannelImpl tells the scheduler: it has another carrier take the place. */
    static ReadTurns direct() {
        return new ReadTurns(DIRECT);
    }

    /** Runs the reading; on a virtual thread once it has its turn, in any order. */
    public <T> T run(Supplier<T> reading) throws InterruptedException {
        if (!Thread.currentThread().isVirtual()) {
            return reading.get();
        }
        turns.acquire();
        try {
            return reading.get();
        } finally {
            turns.release();
        }
    }
}

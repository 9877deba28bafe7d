package io.penstock.cache;

import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * Bounds how many virtual threads are in a read of the cache's disk at once. A buffered read holds its carrier thread
 * until the disk answers (FileChannelImpl tells the scheduler of direct reads only), so reads of a disk that hangs would
 * stop all virtual threads: those that answer from memory, fetch and upload, too.
 */
final class ReadTurns {
    private static final int CARRIERS = Integer.getInteger(
            "jdk.virtualThreadScheduler.parallelism", Runtime.getRuntime().availableProcessors());

    /** Half of the carriers are left to all others. */
    private final Semaphore turns = new Semaphore(Math.max(1, CARRIERS / 2));

    /** Runs the reading; on a virtual thread once it has its turn, in any order. */
    <T> T run(Supplier<T> reading) throws InterruptedException {
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

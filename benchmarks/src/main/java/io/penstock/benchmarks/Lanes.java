package io.penstock.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** Work that so many threads, the lanes, do at once. */
final class Lanes {
    /** Makes the threads of calls to files, as programs have them. */
    static final ThreadFactory PLATFORM = Thread.ofPlatform().factory();

    /** Makes the threads of requests to the store, as the mount has them. */
    static final ThreadFactory VIRTUAL = Thread.ofVirtual().factory();

    private Lanes() {}

    /** One of several operations. */
    interface Operation {
        void run(int index) throws Exception;
    }

    /** Has every lane do all of this work, and returns when the last has ended. */
    static void run(int lanes, ThreadFactory factory, Callable<?> work)
            throws ExecutionException, InterruptedException {
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(factory)) {
            List<Future<?>> running = new ArrayList<>();
            for (int lane = 0; lane < lanes; lane++) {
                running.add(threads.submit(work));
            }
            for (Future<?> each : running) {
                each.get();
            }
        }
    }

    /**
     * Runs so many operations, the next one whenever a lane is free.
     *
     * @param lane gets a lane what it uses by itself, such as a buffer, before the lane's first operation
     * @return the nanoseconds of each
     */
    static long[] each(int count, int lanes, ThreadFactory factory, Supplier<Operation> lane)
            throws ExecutionException, InterruptedException {
        long[] nanos = new long[count];
        AtomicInteger next = new AtomicInteger();
        run(lanes, factory, () -> {
            Operation operation = lane.get();
            for (int i; (i = next.getAndIncrement()) < count; ) {
                long begun = System.nanoTime();
                operation.run(i);
                nanos[i] = System.nanoTime() - begun;
            }
            return null;
        });
        return nanos;
    }

    /**
     * Runs so many operations, dealt out in turn: lane 0 of 16 has the operations 0, 16, 32 and so on.
     *
     * @return the nanoseconds of each
     */
    static long[] dealt(int count, int lanes, ThreadFactory factory, Operation operation)
            throws ExecutionException, InterruptedException {
        long[] nanos = new long[count];
        AtomicInteger nextLane = new AtomicInteger();
        run(lanes, factory, () -> {
            for (int i = nextLane.getAndIncrement(); i < count; i += lanes) {
                long begun = System.nanoTime();
                operation.run(i);
                nanos[i] = System.nanoTime() - begun;
            }
            return null;
        });
        return nanos;
    }

    /** Runs so many requests to the store, the next one whenever a lane is free; the nanoseconds of each. */
    static long[] concurrently(int count, int lanes, Operation request)
            throws ExecutionException, InterruptedException {
        return each(count, lanes, VIRTUAL, () -> request);
    }
}

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

/** Runs work on several threads, the lanes, at the same time. */
final class Lanes {
    /** Creates threads for file calls, as programs use them. */
    static final ThreadFactory PLATFORM = Thread.ofPlatform().factory();

    /** Creates threads for requests to the store, as the mount uses them. */
    static final ThreadFactory VIRTUAL = Thread.ofVirtual().factory();

    private Lanes() {}

    /** One of several operations. */
    interface Operation {
        void run(int index) throws Exception;
    }

    /** Runs all of this work on every lane, and returns when the last has ended. */
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
     * Runs this many operations, the next one whenever a lane is free.
     *
     * @param lane called before a lane's first operation, to create what the lane needs, such as a buffer
     * @return the nanoseconds of each operation
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
     * Runs this many operations, assigned in turn: lane 0 of 16 runs the operations 0, 16, 32 and so on.
     *
     * @return the nanoseconds of each operation
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

    /** Runs this many requests to the store, the next one whenever a lane is free. Returns the nanoseconds of each. */
    static long[] concurrently(int count, int lanes, Operation request)
            throws ExecutionException, InterruptedException {
        return each(count, lanes, VIRTUAL, () -> request);
    }
}

package io.penstock.tools.measure;

import io.penstock.core.NativeMemory;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Threads that share numbered tasks and begin them in the order of their numbers, the next one whenever a thread is free.
 * If the thread that waits for them is interrupted, they begin no more tasks, and it waits a short time for them to end.
 */
public enum Workers {
    /** File system calls. They are not interrupted: Java closes a file when a thread is interrupted while using it. */
    FILES {
        @Override
        Thread start(Runnable work) {
            return Thread.ofPlatform().daemon().name("bench").start(work);
        }

        @Override
        void hurry(Thread thread) {}
    },
    /** Requests to the store, which end immediately when interrupted. */
    REQUESTS {
        @Override
        Thread start(Runnable work) {
            return Thread.startVirtualThread(work);
        }

        @Override
        void hurry(Thread thread) {
            thread.interrupt();
        }
    };

    /** No time limit. */
    public static final Duration NO_LIMIT = Duration.ofDays(365);

    /** The longest wait for each thread after an interrupt: the file system may hang. */
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    /** In bytes: the kernel's smallest page. Buffers aligned to it suit every read. */
    private static final int ALIGNMENT = 4096;

    abstract Thread start(Runnable work);

    abstract void hurry(Thread thread);

    /** A piece of work. */
    @FunctionalInterface
    public interface Task {
        /** @param buffer the thread's own buffer: direct, cleared */
        void run(int number, ByteBuffer buffer) throws Exception;
    }

    /** Runs all tasks, without buffers. */
    public Measurement run(int threads, int tasks, Task task)
            throws IOException, ObjectStoreException, RefusedException, InterruptedException {
        return run(threads, tasks, NO_LIMIT, 0, task);
    }

    /**
     * Runs tasks until all are done, time is up, or one fails. A failure is thrown once the others have ended.
     *
     * @param limit no task begins after it, except for the first one of each thread
     * @param bufferBytes the size of each thread's buffer
     * @return the tasks done, which are those numbered below their number; each is an operation of one byte
     */
    public Measurement run(int threads, int tasks, Duration limit, int bufferBytes, Task task)
            throws IOException, ObjectStoreException, RefusedException, InterruptedException {
        List<ByteBuffer> buffers = new ArrayList<>(); // before the first thread starts, and outside the measured time
        for (int i = 0; i < Math.min(threads, tasks); i++) {
            buffers.add(NativeMemory.allocate(
                    NativeMemory.Share.PAGES, Math.ceilDiv(bufferBytes, ALIGNMENT) * ALIGNMENT, ALIGNMENT));
        }
        Run run = new Run(tasks, limit, task);
        List<Thread> all = new ArrayList<>();
        for (ByteBuffer buffer : buffers) {
            LongStream.Builder nanos = LongStream.builder();
            run.nanos.add(nanos);
            all.add(start(() -> run.work(buffer.slice(0, bufferBytes), nanos)));
        }
        try {
            for (Thread thread : all) {
                thread.join();
            }
        } catch (InterruptedException e) {
            run.stopped = true;
            all.forEach(this::hurry);
            for (Thread thread : all) {
                boolean _ = thread.join(PATIENCE);
            }
            throw e;
        }
        long elapsed = System.nanoTime() - run.began;
        switch (run.failure.get()) {
            case null -> {}
            case IOException e -> throw e;
            case ObjectStoreException e -> throw e;
            case RefusedException e -> throw e;
            case InterruptedException e -> throw e;
            case Throwable e -> throw new IllegalStateException(e);
        }
        long[] each =
                run.nanos.stream().flatMapToLong(LongStream.Builder::build).toArray();
        return Measurement.of(each.length, elapsed, each);
    }

    /** The state shared by the threads of one run. */
    private static final class Run {
        private final int tasks;
        private final long limitNanos;
        private final Task task;
        private final AtomicInteger next = new AtomicInteger();
        /** The nanoseconds of each task, by thread. */
        final List<LongStream.Builder> nanos = new ArrayList<>();

        final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        final long began = System.nanoTime();
        volatile boolean stopped;

        Run(int tasks, Duration limit, Task task) {
            this.tasks = tasks;
            this.limitNanos = limit.toNanos();
            this.task = task;
        }

        void work(ByteBuffer buffer, LongStream.Builder done) {
            try {
                boolean isFirst = true;
                while (!stopped && (isFirst || System.nanoTime() - began < limitNanos)) {
                    int number = next.getAndIncrement();
                    if (number < 0 || number >= tasks) {
                        return;
                    }
                    long start = System.nanoTime();
                    task.run(number, buffer.clear());
                    done.add(System.nanoTime() - start);
                    isFirst = false;
                }
            } catch (Throwable e) {
                stopped = true;
                failure.compareAndSet(null, e);
            }
        }
    }
}

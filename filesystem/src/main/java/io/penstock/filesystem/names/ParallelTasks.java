package io.penstock.filesystem.names;

import io.penstock.core.ErrnoException;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStoreException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Runs one task per item, some of them at the same time, all within the caller's deadline. */
final class ParallelTasks {
    private static final ThreadFactory THREADS =
            Thread.ofVirtual().name("rename-", 0).factory();

    private ParallelTasks() {}

    /**
     * The task for one item.
     *
     * @param <X> {@link ErrnoException}, if it throws that
     */
    @FunctionalInterface
    interface Work<T, X extends Exception> {
        void run(T item) throws X, ObjectStoreException, IOException, InterruptedException;
    }

    /** An executor for {@link #forEach(ExecutorService, List, int, Work)}. */
    static ExecutorService threads() {
        return Executors.newThreadPerTaskExecutor(THREADS);
    }

    /**
     * Returns once all tasks are done. If one fails, or the caller is interrupted, no further task begins; running ones
     * are interrupted and awaited.
     *
     * @param most how many at a time
     */
    static <T, X extends Exception> void forEach(List<T> items, int most, Work<T, X> work)
            throws X, ObjectStoreException, IOException, InterruptedException {
        try (ExecutorService executor = threads()) {
            try {
                forEach(executor, items, most, work);
            } finally {
                executor.shutdownNow();
            }
        }
    }

    /**
     * The same for tasks that must not be interrupted: after a failure or an interrupt, running tasks may end after
     * this returns. The caller awaits them by closing the executor.
     */
    static <T, X extends Exception> void forEach(ExecutorService executor, List<T> items, int most, Work<T, X> work)
            throws X, ObjectStoreException, IOException, InterruptedException {
        AtomicInteger next = new AtomicInteger();
        Deadline deadline = Deadline.current();
        int threads = Math.min(most, items.size());
        CompletionService<Boolean> running = new ExecutorCompletionService<>(executor);
        for (int i = 0; i < threads; i++) {
            Future<Boolean> _ = running.submit(() -> within(deadline, items, next, work));
        }
        try {
            for (int i = 0; i < threads; i++) {
                running.take().get();
            }
        } catch (ExecutionException e) {
            throw ParallelTasks.<X>failure(e.getCause());
        } finally {
            next.set(items.size());
        }
    }

    private static <T, X extends Exception> boolean within(
            @Nullable Deadline deadline, List<T> items, AtomicInteger next, Work<T, X> work) throws Exception {
        return deadline == null
                ? run(items, next, work)
                : deadline.<Boolean, Exception>call(() -> run(items, next, work));
    }

    private static <T, X extends Exception> boolean run(List<T> items, AtomicInteger next, Work<T, X> work)
            throws X, ObjectStoreException, IOException, InterruptedException {
        for (int i = next.getAndIncrement(); i < items.size(); i = next.getAndIncrement()) {
            work.run(items.get(i));
        }
        return true;
    }

    @SuppressWarnings("unchecked") // the work throws no other exceptions of these types
    private static <X extends Exception> RuntimeException failure(@Nullable Throwable cause)
            throws X, ObjectStoreException, IOException, InterruptedException {
        switch (cause) {
            case ErrnoException e -> throw (X) e;
            case ObjectStoreException e -> throw e;
            case IOException e -> throw e;
            case InterruptedException e -> throw e;
            case null, default -> throw new IllegalStateException(cause);
        }
    }
}

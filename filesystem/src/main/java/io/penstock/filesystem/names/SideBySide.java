package io.penstock.filesystem.names;

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

/** Does the same to many, some of them at the same time, all within the caller's deadline. */
final class SideBySide {
    private static final ThreadFactory THREADS =
            Thread.ofVirtual().name("rename-", 0).factory();

    private SideBySide() {}

    /** The work on one item. */
    @FunctionalInterface
    interface Work<T> {
        void run(T item) throws ObjectStoreException, IOException, InterruptedException;
    }

    /**
     * Returns once all is done. If one fails, or the caller is interrupted, no further one begins, and those that run are
     * interrupted and awaited.
     *
     * @param most how many at a time
     */
    static <T> void forEach(List<T> items, int most, Work<T> work)
            throws ObjectStoreException, IOException, InterruptedException {
        AtomicInteger next = new AtomicInteger();
        Deadline deadline = Deadline.current();
        int threads = Math.min(most, items.size());
        try (ExecutorService executor = Executors.newThreadPerTaskExecutor(THREADS)) {
            CompletionService<Boolean> running = new ExecutorCompletionService<>(executor);
            for (int i = 0; i < threads; i++) {
                Future<Boolean> _ = running.submit(() -> within(deadline, items, next, work));
            }
            try {
                for (int i = 0; i < threads; i++) {
                    running.take().get();
                }
            } catch (ExecutionException e) {
                throw failure(e.getCause());
            } finally {
                next.set(items.size());
                executor.shutdownNow();
            }
        }
    }

    private static <T> boolean within(@Nullable Deadline deadline, List<T> items, AtomicInteger next, Work<T> work)
            throws ObjectStoreException, IOException, InterruptedException {
        return deadline == null
                ? run(items, next, work)
                : deadline.<Boolean, IOException>call(() -> run(items, next, work));
    }

    private static <T> boolean run(List<T> items, AtomicInteger next, Work<T> work)
            throws ObjectStoreException, IOException, InterruptedException {
        for (int i = next.getAndIncrement(); i < items.size(); i = next.getAndIncrement()) {
            work.run(items.get(i));
        }
        return true;
    }

    private static RuntimeException failure(@Nullable Throwable cause)
            throws ObjectStoreException, IOException, InterruptedException {
        switch (cause) {
            case ObjectStoreException e -> throw e;
            case IOException e -> throw e;
            case InterruptedException e -> throw e;
            case null, default -> throw new IllegalStateException(cause);
        }
    }
}

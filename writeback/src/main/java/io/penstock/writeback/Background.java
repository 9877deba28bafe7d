package io.penstock.writeback;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/** Threads for work without a caller: commits, and the end of closed files. Safe for use by any number of threads. */
final class Background {
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("commit-", 0).factory());

    private final Set<Task> running = ConcurrentHashMap.newKeySet();

    /** Work that waits for the store. */
    interface Task extends Runnable {
        /** Ends the wait. */
        void cancel();
    }

    /** @throws RejectedExecutionException if this is closed */
    void execute(Task task) {
        running.add(task);
        try {
            threads.execute(() -> {
                try {
                    task.run();
                } finally {
                    running.remove(task);
                }
            });
        } catch (RejectedExecutionException e) {
            running.remove(task);
            throw e;
        }
    }

    /** Runs it on a new thread, or on the caller's if this is closed. */
    void run(Runnable work) {
        try {
            threads.execute(work);
        } catch (RejectedExecutionException e) {
            work.run();
        }
    }

    boolean isClosed() {
        return threads.isShutdown();
    }

    /** Accepts no more tasks and cancels the running ones. May be called again. */
    void cancel() {
        threads.shutdown();
        running.forEach(Task::cancel);
    }

    /** {@link #cancel}, then waits until the tasks have ended. May be called again. */
    void close() {
        cancel();
        try {
            var _ = threads.awaitTermination(1, TimeUnit.MINUTES);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

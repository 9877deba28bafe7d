package io.penstock.filesystem;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Tasks that run after a call has returned, each on a thread of its own. Safe for use by any number of threads. */
final class BackgroundTasks implements AutoCloseable {
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("background-", 0).factory());

    /** Those that have not ended. */
    private final Set<Runnable> running = ConcurrentHashMap.newKeySet();

    void start(Runnable task) {
        running.add(task);
        Future<?> _ = threads.submit(() -> {
            try {
                task.run();
            } finally {
                ended(task);
            }
        });
    }

    private void ended(Runnable task) {
        running.remove(task);
        synchronized (this) {
            notifyAll();
        }
    }

    /** Waits until all started tasks have ended. */
    void await() throws InterruptedException {
        synchronized (this) {
            while (!running.isEmpty()) {
                wait();
            }
        }
    }

    /** {@link #await}, and takes nothing more. */
    @Override
    public void close() {
        threads.close();
    }
}

package io.penstock.filesystem.files;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tasks that run after a call has returned, each on its own thread. Thread-safe. */
final class BackgroundTasks implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(BackgroundTasks.class);

    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("background-", 0).factory());

    /** Those that have not ended. */
    private final Set<Runnable> running = ConcurrentHashMap.newKeySet();

    void start(Runnable task) {
        running.add(task);
        threads.execute(() -> {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                LOG.error("A background task failed: internal error; please report it", e);
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

    /** {@link #await}, and accepts no further tasks. */
    @Override
    public void close() {
        threads.close();
    }
}

package io.penstock.cache.disk;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.disk.DiskHealth;
import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The threads that write to the cache's disk and free space on it, so that no reader has to. */
public final class DiskTasks {
    private static final Logger log = LoggerFactory.getLogger(DiskTasks.class);

    /** Enough to keep an NVMe drive busy with writes of one page each. */
    private static final int THREADS = 4;

    /** Limit for tasks without a page, which the memory budget does not bound. */
    public static final int MOST_WAITING = 1_000;

    private final DiskHealth health;
    private final ExecutorService executor = threads(THREADS, "penstock-store-");

    @GuardedBy("this")
    private int pending;

    public DiskTasks(DiskHealth health) {
        this.health = health;
    }

    public interface Task {
        void run() throws IOException;
    }

    /** Starts all threads now: if the system refused one later, a task that others wait for would never run. */
    static ExecutorService threads(int count, String name) {
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                count,
                count,
                0,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                Thread.ofPlatform().daemon().name(name, 0).factory());
        threads.prestartAllCoreThreads();
        return threads;
    }

    /** Queues the task; if it fails, the disk's health is notified. Returns false if the cache is closed. */
    public boolean execute(String what, Task task) {
        begun();
        try {
            executor.execute(() -> run(what, task));
            return true;
        } catch (RejectedExecutionException e) {
            ended();
            return false;
        }
    }

    private void run(String what, Task task) {
        try {
            task.run();
        } catch (IOException e) {
            health.failed(what, e);
        } catch (RuntimeException e) {
            log.error("The page store failed unexpectedly, to {}", what, e);
        } finally {
            ended();
        }
    }

    private synchronized void begun() {
        pending++;
    }

    private synchronized void ended() {
        pending--;
        notifyAll();
    }

    /** For callers that create very many tasks: waits while too many are pending. */
    public synchronized void awaitFew() throws InterruptedException {
        while (pending > MOST_WAITING) {
            wait();
        }
    }

    /** Waits until all tasks, and those that they create, are done. */
    synchronized void awaitIdle() throws InterruptedException {
        while (pending > 0) {
            wait();
        }
    }

    /** Accepts no more tasks, and waits for the pending ones. Returns false on timeout. */
    boolean close(long timeoutSeconds) throws InterruptedException {
        executor.shutdown();
        return executor.awaitTermination(timeoutSeconds, TimeUnit.SECONDS);
    }
}

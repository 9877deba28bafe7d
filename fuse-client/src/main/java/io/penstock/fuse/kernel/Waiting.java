package io.penstock.fuse.kernel;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The requests that are being waited for, each on a virtual thread of its own. Safe for use by any number of threads. */
final class Waiting {
    /** By the request's unique number. A thread takes itself out when its request is answered. */
    private final Map<Long, Thread> threads = new ConcurrentHashMap<>();

    /** Runs the task, which never throws, on a thread of its own. From now on it can be interrupted. */
    void start(long unique, Runnable task) {
        Thread thread = Thread.ofVirtual().name("fuse request ", unique).unstarted(() -> {
            try {
                task.run();
            } finally {
                threads.remove(unique);
            }
        });
        threads.put(unique, thread);
        thread.start();
    }

    /** @return whether there is such a request */
    boolean interrupt(long unique) {
        Thread thread = threads.get(unique);
        if (thread == null) {
            return false;
        }
        thread.interrupt();
        return true;
    }

    void interruptAll() {
        threads.values().forEach(Thread::interrupt);
    }

    int count() {
        return threads.size();
    }

    /**
     * Interrupts all and waits for them.
     *
     * @return whether all have ended in this time
     */
    boolean end(Duration patience) throws InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        interruptAll();
        for (Thread thread : threads.values()) {
            thread.join(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
        }
        return threads.isEmpty();
    }
}

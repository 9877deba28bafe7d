package io.penstock.fuse.kernel;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntPredicate;

/**
 * The waiting requests, each on its own virtual thread. Safe for use by any number of threads.
 *
 * <pre>
 *   waits ──signal──▶ is watched ──the caller must end──▶ interrupted
 *     │                   │                                    │
 *     └───────────────────┴───────────── replied ◀─────────────┘
 * </pre>
 *
 * <p>The kernel reports only the first signal (request_wait_answer in fs/fuse/dev.c). So the caller's pending signals
 * are checked until the reply: another signal may be meant to end the caller.
 */
final class PendingRequests {
    /** The time between two checks of the pending signals of a caller that has received one. */
    private static final Duration LOOK = Duration.ofMillis(50);

    private record Request(Thread thread, int caller) {}

    private final IntPredicate isToEnd;

    /** By the request's unique number. A thread removes itself when its request has its reply. */
    private final Map<Long, Request> requests = new ConcurrentHashMap<>();

    /** @param isToEnd whether the caller, given by its thread's number, has a signal that must end its call */
    PendingRequests(IntPredicate isToEnd) {
        this.isToEnd = isToEnd;
    }

    /**
     * Runs the task, which never throws, on its own thread. From now on it can be interrupted.
     *
     * @param caller the number of the thread that waits for the reply
     */
    void start(long unique, int caller, Runnable task) {
        Thread thread = Thread.ofVirtual()
                .name("fuse request ", unique & Long.MAX_VALUE)
                .unstarted(() -> {
                    try {
                        task.run();
                    } finally {
                        requests.remove(unique);
                    }
                });
        requests.put(unique, new Request(thread, caller));
        thread.start();
    }

    /**
     * The caller has received a signal.
     *
     * @return whether there is such a request
     */
    boolean signalled(long unique) {
        Request request = requests.get(unique);
        if (request == null) {
            return false;
        }
        Thread.ofVirtual().name("fuse signal ", unique & Long.MAX_VALUE).start(() -> watch(unique, request));
        return true;
    }

    private void watch(long unique, Request request) {
        try {
            while (requests.containsKey(unique)) {
                if (isToEnd.test(request.caller)) {
                    request.thread.interrupt();
                    return;
                }
                Thread.sleep(LOOK);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the thread ends, and no caller sees the exception
        }
    }

    void interruptAll() {
        requests.values().forEach(request -> request.thread.interrupt());
    }

    int count() {
        return requests.size();
    }

    /**
     * Interrupts all waiting requests, and waits for their end.
     *
     * @return whether all have ended in time
     */
    boolean end(Duration patience) throws InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        interruptAll();
        for (Request request : requests.values()) {
            request.thread.join(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
        }
        return requests.isEmpty();
    }
}

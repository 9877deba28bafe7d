package io.penstock.prefetch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.cache.Urgency;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Limits the number of concurrent GETs, and lets demand go before readahead. Safe for use by any number of threads.
 *
 * <p>A GET for demand blocks here until it has a slot. Readahead does not block: a stream that wants to read ahead
 * waits in a queue, without pages or memory, until a slot is free. It takes one range and queues again. So the streams
 * of all files share the slots evenly, and no reader ever waits for a page whose GET is still queued.
 */
final class FetchGate {
    private final IntSupplier limit;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition released = lock.newCondition();

    /** 0 to the limit; more after the limit was lowered. */
    @GuardedBy("lock")
    private int running;

    /** How many of those are readahead. */
    @GuardedBy("lock")
    private int runningReadahead;

    @GuardedBy("lock")
    private int waitingDemand;

    @GuardedBy("lock")
    private final Queue<BooleanSupplier> queue = new ArrayDeque<>();

    /** @param limit the number of slots, which may change; call {@link #limitChanged} afterwards */
    FetchGate(IntSupplier limit) {
        this.limit = limit;
    }

    /** An eighth of the slots is for demand alone, so that a random reader finds one free however many streams run. */
    private static int forReadahead(int limit) {
        return Math.max(1, limit - limit / 8);
    }

    void limitChanged() {
        lock.lock();
        try {
            released.signalAll();
        } finally {
            lock.unlock();
        }
        admit();
    }

    /** Waits for a slot for demand. @return for how long, in nanoseconds; 0 if one was free */
    long acquire() throws InterruptedException {
        boolean isMine = false;
        lock.lock();
        try {
            long waited = running < limit.getAsInt() ? 0 : await();
            running++;
            isMine = true;
            return waited;
        } finally {
            lock.unlock();
            if (!isMine) { // no readahead was admitted during the wait
                admit();
            }
        }
    }

    @GuardedBy("lock")
    private long await() throws InterruptedException {
        long begun = System.nanoTime();
        waitingDemand++;
        try {
            while (running >= limit.getAsInt()) {
                released.await();
            }
        } finally {
            waitingDemand--;
        }
        return System.nanoTime() - begun;
    }

    /** Waits in the queue for a slot for readahead. */
    void acquireReadahead() throws InterruptedException {
        Semaphore admitted = new Semaphore(0);
        BooleanSupplier request = () -> {
            admitted.release();
            return true;
        };
        enqueue(request);
        boolean isMine = false;
        try {
            admitted.acquire();
            isMine = true;
        } finally {
            if (!isMine && !remove(request)) { // already admitted
                release(Urgency.READAHEAD);
            }
        }
    }

    /**
     * Puts readahead at the end of the queue. It begins immediately if a slot is free.
     *
     * @param readahead called once it has a slot, which it must {@linkplain #release release} later. Does not wait.
     *     Returns false if it can no longer begin: then the slot is free again
     */
    void enqueue(BooleanSupplier readahead) {
        lock.lock();
        try {
            queue.add(readahead);
        } finally {
            lock.unlock();
        }
        admit();
    }

    /** Removes it from the queue; false if it was already admitted. */
    private boolean remove(BooleanSupplier readahead) {
        lock.lock();
        try {
            return queue.remove(readahead);
        } finally {
            lock.unlock();
        }
    }

    /** A GET has ended. */
    void release(Urgency urgency) {
        ended(urgency);
        admit();
    }

    private void ended(Urgency urgency) {
        lock.lock();
        try {
            running--;
            if (urgency == Urgency.READAHEAD) {
                runningReadahead--;
            }
            released.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Starts the readahead that may begin. */
    private void admit() {
        for (BooleanSupplier next = next(); next != null; next = next()) {
            if (!next.getAsBoolean()) {
                ended(Urgency.READAHEAD);
            }
        }
    }

    /** Takes the first from the queue, and a slot for it; null if the queue is empty, or no slot is free. */
    private @Nullable BooleanSupplier next() {
        lock.lock();
        try {
            int now = limit.getAsInt();
            if (waitingDemand > 0 || running >= now || runningReadahead >= forReadahead(now)) {
                return null;
            }
            BooleanSupplier first = queue.poll();
            if (first != null) {
                running++;
                runningReadahead++;
            }
            return first;
        } finally {
            lock.unlock();
        }
    }

    /** The number of GETs running now. */
    int running() {
        lock.lock();
        try {
            return running;
        } finally {
            lock.unlock();
        }
    }

    /** The number of GETs for demand that wait for a slot. */
    int waiting() {
        lock.lock();
        try {
            return waitingDemand;
        } finally {
            lock.unlock();
        }
    }
}

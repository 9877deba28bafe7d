package io.penstock.prefetch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.cache.Urgency;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Limits the number of concurrent GETs, and lets demand go before readahead.
 *
 * <p>Demand waits here for its turn. Readahead does not: a stream that wants readahead stands in a queue, without a
 * page or memory, until a GET is free. It takes one range and goes to the end of the queue again. So streams share the
 * GETs evenly, whichever file they belong to, and nobody ever waits for a page whose GET is still queued.
 *
 * @param <S> the elements of the queue
 */
final class FetchGate<S> {
    private final IntSupplier limit;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition released = lock.newCondition();

    /** 0 to the limit, or more after it was lowered. */
    @GuardedBy("lock")
    private int running;

    /** Among those running. */
    @GuardedBy("lock")
    private int runningReadahead;

    @GuardedBy("lock")
    private int waitingDemand;

    @GuardedBy("lock")
    private final Queue<S> queue = new ArrayDeque<>();

    /** @param limit of GETs, which may change; {@link #limitChanged} must follow */
    FetchGate(IntSupplier limit) {
        this.limit = limit;
    }

    /** An eighth of the GETs is for demand alone, so that a random reader finds one free however many streams run. */
    private static int forReadahead(int limit) {
        return Math.max(1, limit - limit / 8);
    }

    /** Must be followed by {@link #admit} until that returns null. */
    void limitChanged() {
        lock.lock();
        try {
            released.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for a GET for demand. @return for how long, in nanoseconds; 0 if one was free */
    long acquire() throws InterruptedException {
        lock.lock();
        try {
            long waited = running < limit.getAsInt() ? 0 : await();
            running++;
            return waited;
        } finally {
            lock.unlock();
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

    /** Puts a stream that wants readahead at the end of the queue. Must be followed by {@link #admit}. */
    void enqueue(S stream) {
        lock.lock();
        try {
            queue.add(stream);
        } finally {
            lock.unlock();
        }
    }

    /** Takes a stream out of the queue; false if it was admitted. */
    boolean remove(S stream) {
        lock.lock();
        try {
            return queue.remove(stream);
        } finally {
            lock.unlock();
        }
    }

    /**
     * The first in the queue, which may start a GET for readahead now; null if the queue is empty, or no GET is free.
     */
    @Nullable
    S admit() {
        lock.lock();
        try {
            int now = limit.getAsInt();
            if (waitingDemand > 0 || running >= now || runningReadahead >= forReadahead(now)) {
                return null;
            }
            S first = queue.poll();
            if (first != null) {
                running++;
                runningReadahead++;
            }
            return first;
        } finally {
            lock.unlock();
        }
    }

    /** A GET has ended. Must be followed by {@link #admit} until that returns null. */
    void release(Urgency urgency) {
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

    /** The number of GETs running now. */
    int running() {
        lock.lock();
        try {
            return running;
        } finally {
            lock.unlock();
        }
    }

    /** The number of GETs for demand that wait for their turn. */
    int waiting() {
        lock.lock();
        try {
            return waitingDemand;
        } finally {
            lock.unlock();
        }
    }
}

package io.penstock.prefetch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.cache.Urgency;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Lets so many GETs run at once, demand before readahead.
 *
 * <p>Demand waits here for its turn. Readahead does not: a stream that wants some stands in a line, holding no page and
 * no memory, until a GET is free for it; it takes one range and goes to the end of the line again. So streams share
 * the GETs evenly, whichever file they are of, and nobody can wait for a page whose GET is still in line.
 *
 * @param <S> what stands in line
 */
final class FetchGate<S> {
    private final int limit;

    /** An eighth of the GETs is for demand alone: a random reader finds one free however many streams run. */
    private final int readaheadLimit;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition released = lock.newCondition();

    /** 0 to limit. */
    @GuardedBy("lock")
    private int running;

    /** Of those running; 0 to readaheadLimit. */
    @GuardedBy("lock")
    private int runningReadahead;

    @GuardedBy("lock")
    private int waitingDemand;

    @GuardedBy("lock")
    private final Queue<S> line = new ArrayDeque<>();

    FetchGate(int limit) {
        this.limit = limit;
        this.readaheadLimit = Math.max(1, limit - limit / 8);
    }

    /** Waits for a GET for demand. @return whether there was none at once */
    boolean acquire() throws InterruptedException {
        lock.lock();
        try {
            boolean waits = running == limit;
            waitingDemand++;
            try {
                while (running == limit) {
                    released.await();
                }
            } finally {
                waitingDemand--;
            }
            running++;
            return waits;
        } finally {
            lock.unlock();
        }
    }

    /** Puts one that wants readahead at the end of the line. Follow it with {@link #admit}. */
    void enqueue(S stream) {
        lock.lock();
        try {
            line.add(stream);
        } finally {
            lock.unlock();
        }
    }

    /** The first in line, which may start a GET for readahead now; null if there is none, or it may not. */
    @Nullable
    S admit() {
        lock.lock();
        try {
            if (waitingDemand > 0 || running == limit || runningReadahead == readaheadLimit) {
                return null;
            }
            S first = line.poll();
            if (first != null) {
                running++;
                runningReadahead++;
            }
            return first;
        } finally {
            lock.unlock();
        }
    }

    /** A GET has ended. Follow it with {@link #admit}, until that gives null. */
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

    /** GETs running now. */
    int running() {
        lock.lock();
        try {
            return running;
        } finally {
            lock.unlock();
        }
    }
}

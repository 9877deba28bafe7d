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
 * <p>Demand waits here for its turn. Readahead does not: a stream that wants readahead stands in a queue, without a
 * page or memory, until a GET is free. It takes one range and goes to the end of the queue again. So streams share the
 * GETs evenly, whichever file they belong to, and no reader ever waits for a page whose GET is still queued.
 */
final class FetchGate {
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
    private final Queue<BooleanSupplier> queue = new ArrayDeque<>();

    /** @param limit of GETs, which may change; {@link #limitChanged} must follow */
    FetchGate(IntSupplier limit) {
        this.limit = limit;
    }

    /** An eighth of the GETs is for demand alone, so that a random reader finds one free however many streams run. */
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

    /** Waits for a GET for demand. @return for how long, in nanoseconds; 0 if one was free */
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
            if (!isMine) { // no readahead was admitted while this waited
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

    /** Waits in the queue for a GET for readahead. */
    void acquireReadahead() throws InterruptedException {
        Semaphore admitted = new Semaphore(0);
        BooleanSupplier turn = () -> {
            admitted.release();
            return true;
        };
        enqueue(turn);
        boolean isMine = false;
        try {
            admitted.acquire();
            isMine = true;
        } finally {
            if (!isMine && !remove(turn)) { // it has been admitted
                release(Urgency.READAHEAD);
            }
        }
    }

    /**
     * Puts it at the end of the queue. It begins at once if it may.
     *
     * @param readahead begins with the GET, which must be {@linkplain #release released}. Does not wait. False if it cannot
     *     begin any more: then the GET is free again
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

    /** Takes it out of the queue; false if it was admitted. */
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

    /** Has those begin that may. */
    private void admit() {
        for (BooleanSupplier next = next(); next != null; next = next()) {
            if (!next.getAsBoolean()) {
                ended(Urgency.READAHEAD);
            }
        }
    }

    /** The first in the queue, with a GET; null if the queue is empty, or no GET is free. */
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

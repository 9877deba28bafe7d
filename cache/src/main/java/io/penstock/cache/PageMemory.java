package io.penstock.cache;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.cache.Slab.Chunk;
import io.penstock.cache.disk.ObjectTable;
import io.penstock.core.NativeMemory.UsedUpException;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The memory of all pages: one budget, allocated lazily, and returned to the system only if the budget shrinks.
 *
 * <p>Memory is <em>busy</em> while its page is filled, waits to be written to disk, or is read. Then it is
 * <em>kept</em> until another page needs it. Pages that were read to the end are evicted first, because the kernel has
 * them now; then the oldest. A kept page that was read since it was last examined gets a second chance.
 *
 * <p>Demand is served in order of arrival, and nothing overtakes it. Readahead gets memory only while no caller waits
 * and at most three quarters of the budget are busy.
 *
 * <p>Why this cannot deadlock: a thread that waits here holds no memory, and holders of busy memory wait for something
 * else: a fill for the object store, write-behind for the disk (with three quarters of the budget at most, and never
 * with part of every slab), a reader for its copy. So all busy memory comes back, and the first in the queue gets it.
 * Callers have one duty: a thread that must finish a {@link Fill} must not wait here first.
 */
final class PageMemory {
    /** Bounds the work under the lock if every kept frame has just been read. */
    private static final int CHANCES = 16;

    /** Innermost lock, except for the maps of {@link ObjectTable}. */
    private final ReentrantLock lock = new ReentrantLock();

    /** Guarded by the lock, except for its budget. */
    private final Slabs slabs;

    @GuardedBy("lock")
    private final ArrayDeque<Waiter> waiters = new ArrayDeque<>();

    /** Evictable frames, oldest first. */
    @GuardedBy("lock")
    private final LinkedHashSet<PageFrame> kept = new LinkedHashSet<>();

    /** Kept frames that were read to the end. */
    @GuardedBy("lock")
    private final LinkedHashSet<PageFrame> spent = new LinkedHashSet<>();

    /** @param newSlabs throws {@link UsedUpException} if there is no more memory */
    PageMemory(long bytes, Supplier<Slab> newSlabs) {
        this.slabs = new Slabs(bytes, newSlabs);
    }

    private static final class Waiter {
        final int size;
        final Condition granted;

        @Nullable
        Chunk chunk;

        Waiter(int size, Condition granted) {
            this.size = size;
            this.granted = granted;
        }
    }

    /** Memory for a reader's page of this many bytes; waits its turn. */
    Chunk acquire(int bytes) throws InterruptedException {
        int size = Slab.sizeFor(bytes);
        lock.lockInterruptibly();
        try {
            Chunk chunk = waiters.isEmpty() ? allocate(size) : null;
            return chunk != null ? chunk : await(new Waiter(size, lock.newCondition()));
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private Chunk await(Waiter waiter) throws InterruptedException {
        waiters.add(waiter);
        try {
            while (waiter.chunk == null) {
                waiter.granted.await();
            }
            return waiter.chunk;
        } catch (InterruptedException e) {
            if (waiter.chunk != null) {
                free(waiter.chunk);
            } else {
                waiters.remove(waiter);
                serveWaiters();
            }
            throw e;
        }
    }

    /** The same without waiting; null if there is none to spare. */
    @Nullable
    Chunk tryAcquire(int bytes, Urgency urgency) {
        int size = Slab.sizeFor(bytes);
        lock.lock();
        try {
            if (!waiters.isEmpty() || slabs.busyBytes() + size > limit(urgency)) {
                return null;
            }
            return allocate(size);
        } finally {
            lock.unlock();
        }
    }

    /** Changes the budget. A smaller one is reached as busy memory is freed. */
    void setBudget(long bytes) {
        lock.lock();
        try {
            slabs.setBudget(bytes);
            boolean evicted = true;
            while (evicted && slabs.handedOutBytes() > bytes) {
                evicted = evictOne();
            }
            serveWaiters();
        } finally {
            lock.unlock();
        }
    }

    /** May change, so callers must not cache it. */
    long budgetBytes() {
        return slabs.budgetBytes();
    }

    /** Whether readahead of this many bytes, or of its maximum if less, would get memory now. */
    boolean hasForReadahead(long bytes) {
        lock.lock();
        try {
            long most = readaheadLimit(budgetBytes());
            return waiters.isEmpty() && slabs.busyBytes() + Math.min(bytes, most) <= most;
        } finally {
            lock.unlock();
        }
    }

    private long limit(Urgency urgency) {
        long budget = budgetBytes();
        return switch (urgency) {
            case DEMAND -> budget;
            case READAHEAD, LATER -> readaheadLimit(budget);
        };
    }

    /** How many bytes of a budget may be busy before readahead gives way. */
    static long readaheadLimit(long budget) {
        return budget / 4 * 3;
    }

    void free(Chunk chunk) {
        lock.lock();
        try {
            slabs.free(chunk);
            serveWaiters();
        } finally {
            lock.unlock();
        }
    }

    /** The frame's page is complete and is on disk or will not be written: its memory may be evicted when needed. */
    void keep(PageFrame frame) {
        lock.lock();
        try {
            boolean isKept = kept.contains(frame) || spent.contains(frame);
            if (!isKept && frame.isCurrent() && (frame.isSpent() ? spent : kept).add(frame)) {
                slabs.keep(frame.chunk());
                serveWaiters();
            }
        } finally {
            lock.unlock();
        }
    }

    /** The frame was read to its end. */
    void spend(PageFrame frame) {
        lock.lock();
        try {
            if (kept.remove(frame)) {
                spent.add(frame);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Drops the frame immediately, whether or not it is kept. */
    void discard(PageFrame frame) {
        lock.lock();
        try {
            if (kept.remove(frame) || spent.remove(frame)) {
                slabs.unkeep(frame.chunk());
            }
            evict(frame);
            serveWaiters();
        } finally {
            lock.unlock();
        }
    }

    /** Bytes handed out: busy and kept. */
    long usedBytes() {
        lock.lock();
        try {
            return slabs.handedOutBytes();
        } finally {
            lock.unlock();
        }
    }

    /** Bytes that cannot be reclaimed immediately. */
    long busyBytes() {
        lock.lock();
        try {
            return slabs.busyBytes();
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private void serveWaiters() {
        for (Waiter first = waiters.peek(); first != null; first = waiters.peek()) {
            first.chunk = allocate(first.size);
            if (first.chunk == null) {
                return;
            }
            waiters.remove();
            first.granted.signal();
        }
    }

    /** Free memory if there is some, else new memory if the budget allows, else that of kept frames. */
    @GuardedBy("lock")
    private @Nullable Chunk allocate(int size) {
        while (true) {
            Chunk chunk = slabs.allocate(size);
            if (chunk != null || !slabs.mayFit(size) || !evictOne()) {
                return chunk;
            }
        }
    }

    @GuardedBy("lock")
    private boolean evictOne() {
        PageFrame frame = spent.isEmpty() ? pollKept() : spent.removeFirst();
        if (frame == null) {
            return false;
        }
        slabs.unkeep(frame.chunk());
        evict(frame);
        return true;
    }

    @GuardedBy("lock")
    private void evict(PageFrame frame) {
        Chunk chunk = frame.evict();
        if (chunk != null) {
            slabs.free(chunk);
        }
    }

    /** The oldest kept frame, skipping up to {@link #CHANCES} that were read since this method last saw them. */
    @GuardedBy("lock")
    private @Nullable PageFrame pollKept() {
        for (int chances = CHANCES; !kept.isEmpty(); chances--) {
            PageFrame oldest = kept.removeFirst();
            if (chances == 0 || !oldest.wasReadSinceAsked()) {
                return oldest;
            }
            kept.add(oldest);
        }
        return null;
    }
}

package io.penstock.writeback.bytes;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.NativeMemory;
import io.penstock.disk.DirectIo;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockSource;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory of all blocks: one budget, handed out in the order of requests. Allocated lazily and kept for the next
 * block.
 *
 * <p>Waiting callers hold no lock. They wait for memory of blocks that can be staged, or whose file can be committed:
 * {@link Reclaim} is notified and takes care of it. If there is no such block, they are refused. A JVM with less memory
 * than the limit acts as a lower limit: callers wait for memory already handed out.
 */
public final class BlockMemory {
    private static final Logger log = LoggerFactory.getLogger(BlockMemory.class);

    /** Bytes: as many as the uploads of one file hold by default. */
    private static final long MUCH = 128L << 20;

    private final LongSupplier limitBytes;
    private final Runnable onShortage;
    private final BlockSource system;

    /** Also guards the waiters' results. A leaf: no lock is taken under it. */
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final ArrayDeque<ByteBuffer> free = new ArrayDeque<>();

    @GuardedBy("lock")
    private final ArrayDeque<Waiter> waiters = new ArrayDeque<>();

    /** Blocks, including those being allocated. */
    @GuardedBy("lock")
    private int handedOut;

    /** Whether the shortage of JVM memory below the limit was logged. */
    @GuardedBy("lock")
    private boolean saidShort;

    /** @param onShortage called by a caller before it has to wait; must not wait itself */
    public BlockMemory(LongSupplier limitBytes, Runnable onShortage, BlockSource system) {
        this.limitBytes = limitBytes;
        this.onShortage = onShortage;
        this.system = system;
    }

    /** Memory that ends with the process. */
    public static ByteBuffer allocate() {
        return NativeMemory.allocate(NativeMemory.Share.BLOCKS, Block.BLOCK_SIZE, DirectIo.ALIGNMENT);
    }

    /** The file for which memory is acquired. */
    public interface Writer {
        /** Whether its blocks keep their memory because they cannot be committed. */
        boolean isStuck();
    }

    private static final class Waiter {
        final Writer writer;
        final Condition decided;

        @Nullable
        ByteBuffer memory;

        boolean refused;

        Waiter(Writer writer, Condition decided) {
            this.writer = writer;
            this.decided = decided;
        }
    }

    /** Aligned memory of a block's size. Waits its turn. Null if waiting is {@linkplain #refuse in vain}. */
    @Nullable
    public ByteBuffer acquire(Writer writer) throws InterruptedException {
        ByteBuffer memory = acquireNow();
        if (memory != null) {
            return memory;
        }
        Waiter waiter = new Waiter(writer, lock.newCondition());
        lock.lockInterruptibly();
        try {
            waiters.add(waiter);
            serveWaiters(); // some may have been returned since
        } finally {
            lock.unlock();
        }
        grow(); // or the limit may have been raised
        onShortage.run();
        return await(waiter);
    }

    /** {@link #acquire} without waiting: null if it would have to wait. */
    @Nullable
    public ByteBuffer acquireNow() {
        ByteBuffer memory;
        lock.lock();
        try {
            if (!waiters.isEmpty() || !fits(handedOut + 1)) {
                return null;
            }
            handedOut++;
            memory = free.poll();
        } finally {
            lock.unlock();
        }
        return memory == null ? allocateCounted() : memory;
    }

    /**
     * New memory for a block that is already counted, allocated without the lock: clearing it takes milliseconds. Null
     * if the JVM has no more; then the block is no longer counted, and memory already handed out will be returned.
     */
    private @Nullable ByteBuffer allocateCounted() {
        try {
            return system.allocate();
        } catch (NativeMemory.UsedUpException e) {
            lock.lock();
            try {
                handedOut--;
                sayShort(e);
                serveWaiters();
            } finally {
                lock.unlock();
            }
            return null;
        }
    }

    /** Serves waiters with new memory if the limit and the JVM allow. Usually neither does while callers wait. */
    private void grow() {
        while (countForWaiter()) {
            ByteBuffer fresh = allocateCounted();
            if (fresh == null) {
                return;
            }
            lock.lock();
            try {
                giveBack(fresh);
            } finally {
                lock.unlock();
            }
        }
    }

    /** Counts a block if a waiter may have one. */
    private boolean countForWaiter() {
        lock.lock();
        try {
            boolean may = !waiters.isEmpty() && fits(handedOut + 1);
            handedOut += may ? 1 : 0;
            return may;
        } finally {
            lock.unlock();
        }
    }

    private @Nullable ByteBuffer await(Waiter waiter) throws InterruptedException {
        lock.lock();
        try {
            while (waiter.memory == null && !waiter.refused) {
                waiter.decided.await();
            }
            return waiter.memory;
        } catch (InterruptedException e) {
            waiters.remove(waiter);
            if (waiter.memory != null) {
                giveBack(waiter.memory);
            }
            throw e;
        } finally {
            lock.unlock();
        }
    }

    /** No memory will be returned: refuses callers that wait for a stuck file or, if there are none, all callers. */
    void refuse() {
        grow(); // the JVM may have memory again
        List<Waiter> all;
        lock.lock();
        try {
            all = List.copyOf(waiters);
        } finally {
            lock.unlock();
        }
        List<Waiter> stuck =
                all.stream().filter(waiter -> waiter.writer.isStuck()).toList();
        lock.lock();
        try {
            for (Waiter waiter : stuck.isEmpty() ? all : stuck) {
                waiter.refused = waiters.remove(waiter);
                waiter.decided.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Takes memory that a block of the former process has. */
    void take() {
        lock.lock();
        try {
            handedOut++;
        } finally {
            lock.unlock();
        }
    }

    /** See {@link BlockSource#number}. */
    int number(ByteBuffer memory) {
        return system.number(memory);
    }

    public void release(ByteBuffer memory) {
        lock.lock();
        try {
            giveBack(memory);
        } finally {
            lock.unlock();
        }
        grow();
    }

    /** The limit has changed. */
    void limitChanged() {
        lock.lock();
        try {
            while (!free.isEmpty() && !fits(handedOut + free.size())) {
                system.free(free.remove());
            }
            serveWaiters();
        } finally {
            lock.unlock();
        }
        grow();
    }

    public int waiting() {
        lock.lock();
        try {
            return waiters.size();
        } finally {
            lock.unlock();
        }
    }

    /** Whether an eighth of the limit, or {@link #MUCH}, is handed out. */
    boolean isMuchUsed() {
        return usedBytes() > Math.min(MUCH, limitBytes.getAsLong() / 8);
    }

    public long usedBytes() {
        lock.lock();
        try {
            return (long) handedOut * Block.BLOCK_SIZE;
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private void giveBack(ByteBuffer memory) {
        handedOut--;
        if (fits(handedOut + free.size() + 1)) {
            free.push(memory); // most recently used first: it may be in the processor's caches
        } else {
            system.free(memory);
        }
        serveWaiters();
    }

    @GuardedBy("lock")
    private void serveWaiters() {
        while (!waiters.isEmpty() && !free.isEmpty() && fits(handedOut + 1)) {
            Waiter first = waiters.remove();
            first.memory = free.remove();
            handedOut++;
            first.decided.signal();
        }
    }

    @GuardedBy("lock")
    private void sayShort(NativeMemory.UsedUpException cause) {
        if (!saidShort) {
            saidShort = true;
            log.warn(
                    "Writers have only {} blocks of 4 MiB: {}, or lower write.memory or memory",
                    handedOut,
                    cause.getMessage());
        }
    }

    private boolean fits(int blocks) {
        return (long) blocks * Block.BLOCK_SIZE <= limitBytes.getAsLong();
    }
}

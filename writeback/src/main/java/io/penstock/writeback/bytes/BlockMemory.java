package io.penstock.writeback.bytes;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.NativeMemory;
import io.penstock.disk.DirectIo;
import io.penstock.writeback.content.Block;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory of all blocks: one budget, handed out in the order of requests. Taken lazily from the system,
 * and kept for the next block.
 *
 * <p>Waiting callers hold no lock. They wait for memory of blocks that can be staged, or whose file can be
 * committed: {@link Reclaim} is told, and sees to it. Where there is no such block, they are refused. A JVM that has
 * less than the limit is a lower limit: they wait for memory that was handed out.
 */
public final class BlockMemory {
    private static final Logger log = LoggerFactory.getLogger(BlockMemory.class);

    /** Bytes: as many as a file's uploads hold by default. */
    private static final long MUCH = 128L << 20;

    private final LongSupplier limitBytes;
    private final Runnable onShortage;
    private final Supplier<ByteBuffer> system;

    /** Guards the waiters' results, too. A leaf: no lock is taken under it. */
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final ArrayDeque<ByteBuffer> free = new ArrayDeque<>();

    @GuardedBy("lock")
    private final ArrayDeque<Waiter> waiters = new ArrayDeque<>();

    @GuardedBy("lock")
    private int handedOut;

    /** Whether it was said that the JVM has less memory than the limit. */
    @GuardedBy("lock")
    private boolean saidShort;

    /** @param onShortage called by a caller that has to wait, before it does; must not wait itself */
    public BlockMemory(LongSupplier limitBytes, Runnable onShortage) {
        this(limitBytes, onShortage, BlockMemory::allocate);
    }

    /** @param system allocates a block's memory, or throws {@link NativeMemory.UsedUpException} */
    public BlockMemory(LongSupplier limitBytes, Runnable onShortage, Supplier<ByteBuffer> system) {
        this.limitBytes = limitBytes;
        this.onShortage = onShortage;
        this.system = system;
    }

    private static ByteBuffer allocate() {
        return NativeMemory.allocate(NativeMemory.Share.BLOCKS, Block.BLOCK_SIZE, DirectIo.ALIGNMENT);
    }

    /** The file for which memory is acquired. */
    interface Writer {
        /** Whether its blocks keep their memory, because they cannot be committed. */
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

    /** A block's memory: aligned, as large as a block. Waits its turn. Null if that is {@linkplain #refuse in vain}. */
    @Nullable
    public ByteBuffer acquire(Writer writer) throws InterruptedException {
        Waiter waiter;
        lock.lockInterruptibly();
        try {
            ByteBuffer memory = waiters.isEmpty() ? take() : null;
            if (memory != null) {
                return memory;
            }
            waiter = new Waiter(writer, lock.newCondition());
            waiters.add(waiter);
        } finally {
            lock.unlock();
        }
        onShortage.run();
        return await(waiter);
    }

    /** {@link #acquire} without waiting: null if that would have to wait. */
    @Nullable
    public ByteBuffer acquireNow() {
        lock.lock();
        try {
            return waiters.isEmpty() ? take() : null;
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

    /** There will be no memory: refuses the callers that wait for a file that is stuck, or, if there are none, all. */
    void refuse() {
        List<Waiter> all;
        lock.lock();
        try {
            serveWaiters(); // the JVM may have memory again
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

    public void release(ByteBuffer memory) {
        lock.lock();
        try {
            giveBack(memory);
        } finally {
            lock.unlock();
        }
    }

    /** The limit has changed. */
    void limitChanged() {
        lock.lock();
        try {
            while (!free.isEmpty() && !fits(handedOut + free.size())) {
                free.remove(); // to the garbage collector
            }
            serveWaiters();
        } finally {
            lock.unlock();
        }
    }

    public int waiting() {
        lock.lock();
        try {
            return waiters.size();
        } finally {
            lock.unlock();
        }
    }

    /** Whether an eighth of the limit is handed out, or {@link #MUCH}. */
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
            free.push(memory); // the last used first: it may be in the processor's caches
        }
        serveWaiters();
    }

    @GuardedBy("lock")
    private void serveWaiters() {
        for (Waiter first = waiters.peek(); first != null; first = waiters.peek()) {
            first.memory = take();
            if (first.memory == null) {
                return;
            }
            waiters.remove();
            first.decided.signal();
        }
    }

    /** Null if the limit is reached, or if the JVM has no more: memory that is handed out comes back then. */
    @GuardedBy("lock")
    private @Nullable ByteBuffer take() {
        if (!fits(handedOut + 1)) {
            return null;
        }
        ByteBuffer memory = free.poll();
        if (memory == null) {
            try {
                memory = system.get();
            } catch (NativeMemory.UsedUpException e) {
                sayShort(e);
                return null;
            }
        }
        handedOut++;
        return memory;
    }

    @GuardedBy("lock")
    private void sayShort(NativeMemory.UsedUpException cause) {
        if (!saidShort) {
            saidShort = true;
            log.warn(
                    "Writers share the {} blocks of 4 MiB that they have, or lower write.memory or memory: {}",
                    handedOut,
                    cause.getMessage());
        }
    }

    private boolean fits(int blocks) {
        return (long) blocks * Block.BLOCK_SIZE <= limitBytes.getAsLong();
    }
}

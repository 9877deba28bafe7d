package io.penstock.writeback.bytes;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.NativeMemory.Share;
import io.penstock.core.NativeMemory.UsedUpException;
import io.penstock.disk.DirectIo;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The budget of blocks' memory. */
@Timeout(30)
final class BlockMemoryTest {
    private final AtomicLong limit = new AtomicLong(2L * BLOCK_SIZE);
    private final AtomicInteger shortages = new AtomicInteger();
    private final BlockMemory memory = new BlockMemory(limit::get, shortages::incrementAndGet, BlockMemory::allocate);
    private final BlockingQueue<String> served = new LinkedBlockingQueue<>();
    private final List<ByteBuffer> taken = new ArrayList<>();

    private ByteBuffer acquire() throws InterruptedException {
        return Objects.requireNonNull(memory.acquire(() -> false));
    }

    private Thread waiter(String name) throws InterruptedException {
        return waiter(name, false);
    }

    private Thread waiter(String name, boolean stuck) throws InterruptedException {
        return waiter(memory, name, stuck);
    }

    private Thread waiter(BlockMemory of, String name, boolean stuck) throws InterruptedException {
        int before = of.waiting();
        Thread thread = Thread.startVirtualThread(() -> {
            try {
                ByteBuffer bytes = of.acquire(() -> stuck);
                if (bytes == null) {
                    served.add(name + " refused");
                    return;
                }
                synchronized (taken) {
                    taken.add(bytes);
                }
                served.add(name);
            } catch (InterruptedException e) {
                served.add(name + " interrupted");
            }
        });
        while (of.waiting() == before) {
            Thread.sleep(1);
        }
        return thread;
    }

    @Test
    void acquire_ofAlignedMemory_upToTheLimit() throws Exception {
        ByteBuffer first = acquire();
        assertThat(first.capacity()).isEqualTo(BLOCK_SIZE);
        assertThat(first.alignmentOffset(0, DirectIo.ALIGNMENT)).isZero();
        acquire();
        assertThat(memory.usedBytes()).isEqualTo(2L * BLOCK_SIZE);
        assertThat(shortages).hasValue(0);
        memory.release(first);
        assertThat(acquire()).isSameAs(first);
    }

    @Test
    void acquireNow_overTheLimitOrBeforeOthersWhoWait_isNothing() throws Exception {
        ByteBuffer first = memory.acquireNow();
        assertThat(first).isNotNull();
        acquire();
        assertThat(memory.acquireNow()).isNull();
        assertThat(shortages).hasValue(0);

        waiter("a");
        waiter("b");
        memory.release(first);
        assertThat(served.take()).isEqualTo("a");
        assertThat(memory.acquireNow()).isNull();
        limit.set(4L * BLOCK_SIZE);
        memory.limitChanged();
        assertThat(served.take()).isEqualTo("b");
        assertThat(memory.acquireNow()).isNotNull();
    }

    @Test
    void acquire_whileAnotherCallersIsAllocated_doesNotWaitForThat() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        AtomicBoolean slow = new AtomicBoolean(true);
        BlockMemory of = new BlockMemory(limit::get, shortages::incrementAndGet, () -> {
            if (slow.getAndSet(false)) {
                begun.countDown();
                awaitUninterruptibly(mayEnd);
            }
            return ByteBuffer.allocateDirect(BLOCK_SIZE);
        });
        FutureTask<@Nullable ByteBuffer> first = new FutureTask<>(of::acquireNow);
        Thread.startVirtualThread(first);
        begun.await();
        FutureTask<@Nullable ByteBuffer> other = new FutureTask<>(of::acquireNow);
        Thread.startVirtualThread(other);
        ByteBuffer second = Objects.requireNonNull(other.get());
        assertThat(of.usedBytes()).isEqualTo(2L * BLOCK_SIZE);
        waiter(of, "a", false);
        of.release(second);
        assertThat(served.take()).isEqualTo("a");
        mayEnd.countDown();
        assertThat(first.get()).isNotNull();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void acquire_overTheLimit_waitsInTurn() throws Exception {
        ByteBuffer first = acquire();
        ByteBuffer second = acquire();
        waiter("a");
        waiter("b");
        waiter("c");
        assertThat(shortages).hasValue(3);
        memory.release(first);
        assertThat(served.take()).isEqualTo("a");
        memory.release(second);
        assertThat(served.take()).isEqualTo("b");
        limit.set(3L * BLOCK_SIZE);
        memory.limitChanged();
        assertThat(served.take()).isEqualTo("c");
    }

    @Test
    void interrupt_ofAWaiter_leavesItsTurnToTheNext() throws Exception {
        ByteBuffer first = acquire();
        acquire();
        Thread a = waiter("a");
        waiter("b");
        a.interrupt();
        assertThat(served.take()).isEqualTo("a interrupted");
        memory.release(first);
        assertThat(served.take()).isEqualTo("b");
        assertThat(memory.usedBytes()).isEqualTo(2L * BLOCK_SIZE);
    }

    @Test
    void limit_lowered_isReachedAsMemoryComesBack() throws Exception {
        ByteBuffer first = acquire();
        ByteBuffer second = acquire();
        limit.set(BLOCK_SIZE);
        memory.limitChanged();
        waiter("a");
        memory.release(first);
        assertThat(memory.usedBytes()).isEqualTo(BLOCK_SIZE);
        assertThat(served).isEmpty();
        memory.release(second);
        assertThat(served.take()).isEqualTo("a");
    }

    @Test
    void refuse_someOfThemStuck_leavesTheOthersTheirTurn() throws Exception {
        ByteBuffer first = acquire();
        acquire();
        waiter("a");
        waiter("b", true);
        memory.refuse();
        assertThat(served.take()).isEqualTo("b refused");
        memory.release(first);
        assertThat(served.take()).isEqualTo("a");
    }

    @Test
    void refuse_noneOfThemStuck_refusesAll() throws Exception {
        acquire();
        acquire();
        waiter("a");
        waiter("b");
        memory.refuse();
        assertThat(List.of(served.take(), served.take())).containsExactlyInAnyOrder("a refused", "b refused");
        assertThat(memory.waiting()).isZero();
        assertThat(memory.usedBytes()).isEqualTo(2L * BLOCK_SIZE);
    }

    @Test
    void acquire_theJvmHasNoMore_waitsAndKeepsTheLimit() throws Exception {
        AtomicInteger failures = new AtomicInteger();
        BlockMemory scarce = new BlockMemory(limit::get, shortages::incrementAndGet, () -> {
            if (failures.getAndDecrement() > 0) {
                throw new UsedUpException(Share.BLOCKS, null);
            }
            return ByteBuffer.allocateDirect(BLOCK_SIZE);
        });
        ByteBuffer first = Objects.requireNonNull(scarce.acquireNow());
        ByteBuffer second = Objects.requireNonNull(scarce.acquireNow());
        waiter(scarce, "a", false);
        waiter(scarce, "b", false);
        failures.set(1);
        limit.set(4L * BLOCK_SIZE);

        scarce.limitChanged();
        assertThat(served).isEmpty();
        scarce.release(first);
        // The JVM has memory again. Both are served at the same time, and either thread may report first.
        assertThat(List.of(served.take(), served.take())).containsExactlyInAnyOrder("a", "b");
        assertThat(scarce.usedBytes()).isEqualTo(3L * BLOCK_SIZE);

        failures.set(1);
        assertThat(scarce.acquireNow()).isNull();
        assertThat(scarce.usedBytes()).isEqualTo(3L * BLOCK_SIZE);
        scarce.release(second);
    }

    @Test
    void acquire_theJvmHasNone_isRefusedWhenNothingComesBack() throws Exception {
        BlockMemory none = new BlockMemory(limit::get, shortages::incrementAndGet, () -> {
            throw new UsedUpException(Share.BLOCKS, null);
        });
        waiter(none, "a", false);
        waiter(none, "b", false);
        none.refuse();
        assertThat(List.of(served.take(), served.take())).containsExactlyInAnyOrder("a refused", "b refused");
        assertThat(none.usedBytes()).isZero();
    }
}

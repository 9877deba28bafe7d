package io.penstock.writeback;

import static io.penstock.writeback.Writeback.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The budget of blocks' memory. */
@Timeout(30)
final class BlockMemoryTest {
    private final AtomicLong limit = new AtomicLong(2L * BLOCK_SIZE);
    private final AtomicInteger shortages = new AtomicInteger();
    private final BlockMemory memory = new BlockMemory(limit::get, shortages::incrementAndGet);
    private final BlockingQueue<String> served = new LinkedBlockingQueue<>();
    private final List<ByteBuffer> taken = new ArrayList<>();

    private Thread waiter(String name) throws InterruptedException {
        int before = memory.waiting();
        Thread thread = Thread.startVirtualThread(() -> {
            try {
                ByteBuffer bytes = memory.acquire();
                synchronized (taken) {
                    taken.add(bytes);
                }
                served.add(name);
            } catch (InterruptedException e) {
                served.add(name + " interrupted");
            }
        });
        while (memory.waiting() == before) {
            Thread.sleep(1);
        }
        return thread;
    }

    @Test
    void acquire_ofAlignedMemory_upToTheLimit() throws Exception {
        ByteBuffer first = memory.acquire();
        assertThat(first.capacity()).isEqualTo(BLOCK_SIZE);
        assertThat(first.alignmentOffset(0, BlockMemory.ALIGNMENT)).isZero();
        memory.acquire();
        assertThat(memory.usedBytes()).isEqualTo(2L * BLOCK_SIZE);
        assertThat(shortages).hasValue(0);
        memory.release(first);
        assertThat(memory.acquire()).isSameAs(first);
    }

    @Test
    void acquireNow_overTheLimitOrBeforeOthersWhoWait_isNothing() throws Exception {
        ByteBuffer first = memory.acquireNow();
        assertThat(first).isNotNull();
        memory.acquire();
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
    void acquire_overTheLimit_waitsInTurn() throws Exception {
        ByteBuffer first = memory.acquire();
        ByteBuffer second = memory.acquire();
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
        ByteBuffer first = memory.acquire();
        memory.acquire();
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
        ByteBuffer first = memory.acquire();
        ByteBuffer second = memory.acquire();
        limit.set(BLOCK_SIZE);
        memory.limitChanged();
        waiter("a");
        memory.release(first);
        assertThat(memory.usedBytes()).isEqualTo(BLOCK_SIZE);
        assertThat(served).isEmpty();
        memory.release(second);
        assertThat(served.take()).isEqualTo("a");
    }
}

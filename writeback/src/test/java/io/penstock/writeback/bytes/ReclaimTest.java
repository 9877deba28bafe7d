package io.penstock.writeback.bytes;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.writeback.bytes.Reclaim.Eviction;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockBuffer;
import io.penstock.writeback.upload.WritebackLimits;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Actions for writers that wait for memory, two blocks in total, while no time passes. */
@Timeout(30)
final class ReclaimTest {
    private final Reclaim reclaim = new Reclaim(
            new WritebackLimits(new WritebackLimits.Values(1, 1, 1, 2L * BLOCK_SIZE, 1L << 30, 2L * BLOCK_SIZE)),
            Stream::empty,
            BlockMemory::allocate,
            () -> 0);

    @AfterEach
    void close() {
        reclaim.close();
    }

    /** A file of one block. */
    private final class OneBlock implements Reclaim.Source {
        final AtomicInteger attempts = new AtomicInteger();
        final AtomicInteger commits = new AtomicInteger();
        final Block block = new Block(0);
        private final int inVain;
        private final Eviction meanwhile;

        OneBlock(int inVain, Eviction meanwhile) throws InterruptedException {
            this.inVain = inVain;
            this.meanwhile = meanwhile;
            block.give(reclaim.add(this, 0, acquire()));
        }

        @Override
        public boolean stage(Block staged) {
            return false;
        }

        @Override
        public Eviction evict(long index, boolean afterStaging) {
            if (attempts.incrementAndGet() <= inVain) {
                return meanwhile;
            }
            block.drop();
            return Eviction.FREED;
        }

        @Override
        public void unused(BlockBuffer memory) {
            reclaim.freed(memory);
        }

        @Override
        public boolean isLeaving(long index, BlockBuffer memory) {
            return false;
        }

        @Override
        public boolean commitToFreeMemory() {
            commits.incrementAndGet();
            block.drop();
            return true;
        }

        @Override
        public boolean commitToFreeStaging() {
            return commitToFreeMemory();
        }
    }

    private ByteBuffer acquire() throws InterruptedException {
        return Objects.requireNonNull(reclaim.memory().acquire(() -> false));
    }

    private FutureTask<@Nullable ByteBuffer> writer() {
        FutureTask<@Nullable ByteBuffer> writer =
                new FutureTask<>(() -> reclaim.memory().acquire(() -> false));
        Thread.ofVirtual().start(writer);
        return writer;
    }

    @Test
    void acquire_whileBlocksAreRewritten_waitsAndCommitsNoFile() throws Exception {
        OneBlock file = new OneBlock(6, Eviction.BUSY);
        OneBlock other = new OneBlock(1000, Eviction.STUCK);
        assertThat(writer().get()).isNotNull();
        assertThat(file.attempts).hasValue(7);
        assertThat(file.commits).hasValue(0);
        assertThat(other.commits).hasValue(0);
    }

    @Test
    void acquire_whileAnotherWritersMemoryHasNoBlock_commitsNoFile() throws Exception {
        ByteBuffer taken = acquire();
        OneBlock stuck = new OneBlock(1000, Eviction.STUCK);
        FutureTask<@Nullable ByteBuffer> waiting = writer();
        while (stuck.attempts.get() < 8) { // four looks, two attempts each
            Thread.onSpinWait();
        }
        assertThat(stuck.commits).hasValue(0);
        reclaim.memory().release(taken);
        assertThat(waiting.get()).isNotNull();
        assertThat(stuck.commits).hasValue(0);
    }

    @Test
    void acquire_whereNoBlockCanBeStaged_commitsAFile() throws Exception {
        OneBlock file = new OneBlock(1000, Eviction.STUCK);
        OneBlock other = new OneBlock(1000, Eviction.STUCK);
        assertThat(writer().get()).isNotNull();
        assertThat(file.commits.get() + other.commits.get()).isOne();
    }
}

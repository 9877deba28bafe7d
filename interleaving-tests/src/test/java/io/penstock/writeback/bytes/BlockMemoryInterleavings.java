package io.penstock.writeback.bytes;

import static java.util.Objects.requireNonNull;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.penstock.interleaving.WaitingCall;
import io.penstock.writeback.content.Block;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** {@link BlockMemory} with a limit of one block. */
final class BlockMemoryInterleavings {
    private BlockMemoryInterleavings() {}

    /** The memory, and how many blocks of it the system has allocated. */
    private static final class OneBlock {
        final AtomicInteger allocated = new AtomicInteger();
        final BlockMemory memory = new BlockMemory(() -> Block.BLOCK_SIZE, () -> {}, () -> {
            allocated.incrementAndGet();
            return ByteBuffer.allocate(1);
        });

        int take() throws InterruptedException {
            ByteBuffer _ = requireNonNull(memory.acquire(() -> false));
            return 1;
        }

        int takeNow() {
            return memory.acquireNow() == null ? 0 : 1;
        }

        int used() {
            return (int) (memory.usedBytes() / Block.BLOCK_SIZE);
        }
    }

    /** Exactly one of two callers gets the last block. */
    @JCStressTest
    @Outcome(
            id = {"1, 0, 1", "0, 1, 1"},
            expect = ACCEPTABLE,
            desc = "one has it")
    @State
    public static class LastBlock {
        private final OneBlock one = new OneBlock();

        @Actor
        public void first(III_Result r) {
            r.r1 = one.takeNow();
        }

        @Actor
        public void second(III_Result r) {
            r.r2 = one.takeNow();
        }

        @Arbiter
        public void used(III_Result r) {
            r.r3 = one.used();
        }
    }

    /** A caller that begins to wait while the block is returned gets that block, and no more is allocated. */
    @JCStressTest
    @Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "handed over")
    @State
    public static class Handover {
        private final OneBlock one = new OneBlock();
        private final ByteBuffer held = requireNonNull(one.memory.acquireNow());
        private final WaitingCall waiting = new WaitingCall();

        @Actor
        public void acquires(III_Result r) {
            r.r1 = waiting.run(one::take);
        }

        @Actor
        public void releases() {
            waiting.serve(() -> one.memory.release(held));
        }

        @Arbiter
        public void used(III_Result r) {
            r.r2 = one.used();
            r.r3 = one.allocated.get();
        }
    }

    /** A block that is given to a caller at the moment of its interrupt is not lost. */
    @JCStressTest
    @Outcome(id = "1, 1, 0", expect = ACCEPTABLE, desc = "it has the block")
    @Outcome(id = "-1, 0, 1", expect = ACCEPTABLE, desc = "it was interrupted, and the next caller gets the block")
    @State
    public static class InterruptedCaller {
        private final OneBlock one = new OneBlock();
        private final ByteBuffer held = requireNonNull(one.memory.acquireNow());
        private final WaitingCall waiting = new WaitingCall();

        @Actor
        public void acquires(III_Result r) {
            r.r1 = waiting.run(one::take);
        }

        @Actor
        public void interruptsAndReleases() {
            waiting.serve(() -> {
                waiting.interrupt();
                one.memory.release(held);
            });
        }

        @Arbiter
        public void used(III_Result r) {
            r.r2 = one.used();
            r.r3 = one.takeNow();
        }
    }
}

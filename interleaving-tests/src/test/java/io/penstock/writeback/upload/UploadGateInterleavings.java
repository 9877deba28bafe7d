package io.penstock.writeback.upload;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.penstock.interleaving.WaitingCall;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** {@link UploadGate} with one slot, for which two files compete. */
final class UploadGateInterleavings {
    private UploadGateInterleavings() {}

    private static UploadGate oneSlot() {
        return new UploadGate(
                new WritebackLimits(new WritebackLimits.Values(1, 1, 1, 1 << 30, 1 << 30, 8 << 20)), () -> false);
    }

    /** One of two uploads begins, and the other once that has ended. */
    @JCStressTest
    @Outcome(id = "101, 201", expect = ACCEPTABLE, desc = "one after the other")
    @State
    public static class OneSlot {
        private final UploadGate gate = oneSlot();
        private final UploadGate.FileQueue[] files = {gate.newQueue(), gate.newQueue()};
        private final AtomicInteger begun = new AtomicInteger();
        private volatile int last;

        private void enqueue(int file) {
            files[file].enqueue(() -> {
                last = file;
                begun.incrementAndGet();
            });
        }

        private int begunAndRunning() {
            return 100 * begun.get() + gate.running();
        }

        @Actor
        public void first() {
            enqueue(0);
        }

        @Actor
        public void second() {
            enqueue(1);
        }

        @Arbiter
        public void begun(II_Result r) {
            r.r1 = begunAndRunning();
            files[last].release();
            r.r2 = begunAndRunning();
        }
    }

    /** An upload that is enqueued while the slot becomes free begins. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "it has the slot")
    @State
    public static class FreedSlot {
        private final UploadGate gate = oneSlot();
        private final UploadGate.FileQueue running = gate.newQueue();
        private final UploadGate.FileQueue next = gate.newQueue();
        private final AtomicInteger begun = new AtomicInteger();

        {
            running.enqueue(() -> {});
        }

        @Actor
        public void enqueues() {
            next.enqueue(begun::incrementAndGet);
        }

        @Actor
        public void releases() {
            running.release();
        }

        @Arbiter
        public void begun(II_Result r) {
            r.r1 = begun.get();
            r.r2 = gate.running();
        }
    }

    /** A slot that is given to a caller at the moment of its interrupt is not lost. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "it has the slot")
    @Outcome(id = "-1, 0", expect = ACCEPTABLE, desc = "it was interrupted, and the slot is free")
    @State
    public static class InterruptedCaller {
        private final UploadGate gate = oneSlot();
        private final UploadGate.FileQueue running = gate.newQueue();
        private final UploadGate.FileQueue next = gate.newQueue();
        private final WaitingCall waiting = new WaitingCall();

        {
            running.enqueue(() -> {});
        }

        @Actor
        public void acquires(II_Result r) {
            r.r1 = waiting.run(() -> {
                next.acquire();
                return 1;
            });
        }

        @Actor
        public void interruptsAndReleases() {
            waiting.serve(() -> {
                waiting.interrupt();
                running.release();
            });
        }

        @Arbiter
        public void running(II_Result r) {
            r.r2 = gate.running();
        }
    }
}

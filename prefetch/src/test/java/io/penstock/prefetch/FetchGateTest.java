package io.penstock.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.Urgency;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class FetchGateTest {
    private final FetchGate gate = new FetchGate(() -> 8);
    private final List<String> begun = new ArrayList<>();

    /** Begins, and never releases its slot. */
    private BooleanSupplier stream(String name) {
        return () -> begun.add(name);
    }

    private static void awaitWaiting(Thread thread) {
        while (thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
    }

    private static Thread demand(FetchGate gate) {
        Thread demand = Thread.startVirtualThread(() -> {
            try {
                gate.acquire();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        awaitWaiting(demand);
        return demand;
    }

    @Test
    void enqueue_inTurn_firstInLineFirst() throws InterruptedException {
        FetchGate one = new FetchGate(() -> 1);
        one.acquire();
        one.enqueue(stream("a"));
        one.enqueue(stream("b"));
        assertThat(begun).isEmpty();
        one.release(Urgency.DEMAND);
        one.enqueue(stream("a"));
        assertThat(begun).containsExactly("a");
        one.release(Urgency.READAHEAD);
        one.release(Urgency.READAHEAD);
        assertThat(begun).containsExactly("a", "b", "a");
    }

    @Test
    void enqueue_sevenOfEight_keepsOneForDemand() throws InterruptedException {
        for (int i = 0; i < 8; i++) {
            gate.enqueue(stream("stream"));
        }
        assertThat(begun).hasSize(7);
        gate.acquire();
        assertThat(gate.running()).isEqualTo(8);
        gate.release(Urgency.DEMAND);
        assertThat(begun).hasSize(7);
        gate.release(Urgency.READAHEAD);
        assertThat(begun).hasSize(8);
    }

    @Test
    void enqueue_whatCannotBegin_takesNoGet() {
        gate.enqueue(() -> false);
        assertThat(gate.running()).isZero();
    }

    @Test
    void release_demandWaits_demandGoesFirst() throws InterruptedException {
        FetchGate one = new FetchGate(() -> 1);
        one.acquire();
        one.enqueue(stream("stream"));
        Thread demand = demand(one);
        one.release(Urgency.DEMAND);
        demand.join();
        assertThat(begun).isEmpty();
        one.release(Urgency.DEMAND);
        assertThat(begun).containsExactly("stream");
    }

    @Test
    void limitChanged_lowered_admitsNothingUntilTheExcessHasEnded() throws InterruptedException {
        AtomicInteger limit = new AtomicInteger(2);
        FetchGate changing = new FetchGate(limit::get);
        changing.acquire();
        changing.acquire();
        changing.enqueue(stream("stream"));

        limit.set(1);
        changing.limitChanged();
        changing.release(Urgency.DEMAND);

        assertThat(begun).isEmpty();
        changing.release(Urgency.DEMAND);
        assertThat(begun).containsExactly("stream");
    }

    @Test
    void limitChanged_raised_letsWaitingDemandGo() throws InterruptedException {
        AtomicInteger limit = new AtomicInteger(1);
        FetchGate changing = new FetchGate(limit::get);
        changing.acquire();
        Thread demand = demand(changing);

        limit.set(2);
        changing.limitChanged();

        demand.join();
        assertThat(changing.running()).isEqualTo(2);
    }

    @Test
    void limitChanged_raised_letsReadaheadGo() {
        AtomicInteger limit = new AtomicInteger(1);
        FetchGate changing = new FetchGate(limit::get);
        changing.enqueue(stream("a"));
        changing.enqueue(stream("b"));
        assertThat(begun).containsExactly("a");

        limit.set(8);
        changing.limitChanged();

        assertThat(begun).containsExactly("a", "b");
    }

    @Test
    void acquire_interrupted_leavesNothingBehind() throws InterruptedException {
        FetchGate one = new FetchGate(() -> 1);
        one.acquire();
        Thread demand = demand(one);
        demand.interrupt();
        demand.join();
        one.release(Urgency.DEMAND);
        one.enqueue(stream("stream"));
        assertThat(begun).containsExactly("stream");
    }

    /** No readahead is admitted while demand waits, so readahead must be admitted when that wait ends. */
    @Test
    void acquire_interruptedWhileAGetIsFree_letsReadaheadGo() throws InterruptedException {
        AtomicInteger limit = new AtomicInteger(1);
        FetchGate changing = new FetchGate(limit::get);
        changing.acquire();
        Thread demand = demand(changing);
        limit.set(8); // as if it had not noticed yet
        changing.enqueue(stream("stream"));
        assertThat(begun).isEmpty();
        demand.interrupt();
        demand.join();
        assertThat(begun).containsExactly("stream");
    }

    @Test
    void acquireReadahead_waitsForItsTurn() throws InterruptedException {
        FetchGate one = new FetchGate(() -> 1);
        one.acquire();
        Thread waiting = readahead(one);
        one.release(Urgency.DEMAND);
        waiting.join();
        assertThat(one.running()).isEqualTo(1);
    }

    @Test
    void acquireReadahead_interrupted_leavesNothingBehind() throws InterruptedException {
        FetchGate one = new FetchGate(() -> 1);
        one.acquire();
        Thread waiting = readahead(one);
        waiting.interrupt();
        waiting.join();
        one.release(Urgency.DEMAND);
        assertThat(one.running()).isZero();
    }

    private static Thread readahead(FetchGate gate) {
        Thread waiting = Thread.startVirtualThread(() -> {
            try {
                gate.acquireReadahead();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        awaitWaiting(waiting);
        return waiting;
    }
}

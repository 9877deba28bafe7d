package io.penstock.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.Urgency;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class FetchGateTest {
    private final FetchGate<String> gate = new FetchGate<>(() -> 8);

    @Test
    void admit_nothingInLine_isNull() {
        assertThat(gate.admit()).isNull();
        assertThat(gate.running()).isZero();
    }

    @Test
    void admit_inTurn_firstInLineFirst() {
        gate.enqueue("a");
        gate.enqueue("b");
        assertThat(gate.admit()).isEqualTo("a");
        gate.enqueue("a");
        assertThat(gate.admit()).isEqualTo("b");
        assertThat(gate.admit()).isEqualTo("a");
    }

    @Test
    void admit_sevenOfEight_keepsOneForDemand() throws InterruptedException {
        for (int i = 0; i < 8; i++) {
            gate.enqueue("stream");
        }
        for (int i = 0; i < 7; i++) {
            assertThat(gate.admit()).isNotNull();
        }
        assertThat(gate.admit()).isNull();
        gate.acquire();
        assertThat(gate.running()).isEqualTo(8);
        gate.release(Urgency.DEMAND);
        assertThat(gate.admit()).isNull();
        gate.release(Urgency.READAHEAD);
        assertThat(gate.admit()).isNotNull();
    }

    @Test
    void admit_demandWaits_demandGoesFirst() throws InterruptedException {
        FetchGate<String> one = new FetchGate<>(() -> 1);
        one.enqueue("stream");
        one.acquire();
        CountDownLatch acquired = new CountDownLatch(1);
        Thread demand = Thread.startVirtualThread(() -> {
            try {
                one.acquire();
                acquired.countDown();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        while (demand.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        one.release(Urgency.DEMAND);
        assertThat(one.admit()).isNull();
        assertThat(acquired.await(30, TimeUnit.SECONDS)).isTrue();
        one.release(Urgency.DEMAND);
        assertThat(one.admit()).isEqualTo("stream");
    }

    @Test
    void limitChanged_lowered_admitsNothingUntilTheExcessHasEnded() throws InterruptedException {
        AtomicInteger limit = new AtomicInteger(2);
        FetchGate<String> changing = new FetchGate<>(limit::get);
        changing.acquire();
        changing.acquire();
        changing.enqueue("stream");

        limit.set(1);
        changing.limitChanged();
        changing.release(Urgency.DEMAND);

        assertThat(changing.admit()).isNull();
        changing.release(Urgency.DEMAND);
        assertThat(changing.admit()).isEqualTo("stream");
    }

    @Test
    void limitChanged_raised_letsWaitingDemandGo() throws InterruptedException {
        AtomicInteger limit = new AtomicInteger(1);
        FetchGate<String> changing = new FetchGate<>(limit::get);
        changing.acquire();
        Thread demand = Thread.startVirtualThread(() -> {
            try {
                changing.acquire();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        while (demand.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }

        limit.set(2);
        changing.limitChanged();

        demand.join();
        assertThat(changing.running()).isEqualTo(2);
    }

    @Test
    void acquire_interrupted_leavesNothingBehind() throws InterruptedException {
        FetchGate<String> one = new FetchGate<>(() -> 1);
        one.acquire();
        Thread demand = Thread.ofVirtual().unstarted(() -> {
            try {
                one.acquire();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        demand.start();
        demand.interrupt();
        demand.join();
        one.release(Urgency.DEMAND);
        one.enqueue("stream");
        assertThat(one.admit()).isEqualTo("stream");
    }
}

package io.penstock.writeback.upload;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class UploadGateTest {
    private final WritebackLimits limits = new WritebackLimits(values(4, 3));
    private volatile boolean staging;
    private final UploadGate gate = new UploadGate(limits, () -> staging);
    private final List<String> begun = new ArrayList<>();

    @Test
    void enqueue_room_beginsAtOnce() {
        enqueue(gate.newQueue(), "a");
        assertThat(begun).containsExactly("a");
        assertThat(gate.running()).isEqualTo(1);
    }

    @Test
    void enqueue_oneFile_beginsNoMoreThanItsShare() {
        UploadGate.FileQueue file = gate.newQueue();
        enqueue(file, "a1", "a2", "a3", "a4");
        assertThat(begun).containsExactly("a1", "a2", "a3");
        file.release();
        assertThat(begun).endsWith("a4");
    }

    @Test
    void release_manyWait_filesTakeTurns() {
        UploadGate.FileQueue large = gate.newQueue();
        UploadGate.FileQueue other = gate.newQueue();
        UploadGate.FileQueue small = gate.newQueue();
        enqueue(large, "l1", "l2", "l3", "l4", "l5");
        enqueue(other, "o1", "o2", "o3");
        enqueue(small, "s1");
        assertThat(begun).containsExactly("l1", "l2", "l3", "o1");
        large.release();
        large.release();
        large.release();
        assertThat(begun.subList(4, 7)).containsExactlyInAnyOrder("l4", "o2", "s1");
    }

    @Test
    void limitsRaised_whoWaits_goesOn() {
        UploadGate.FileQueue file = gate.newQueue();
        enqueue(file, "a1", "a2", "a3", "a4", "a5", "a6");
        limits.set(values(5, 8));
        assertThat(begun).hasSize(5);
    }

    @Test
    void limitsLowered_noneBeginsBeforeEnoughHaveEnded() {
        UploadGate.FileQueue file = gate.newQueue();
        enqueue(file, "a1", "a2", "a3", "a4");
        limits.set(values(1, 1));
        file.release();
        file.release();
        assertThat(begun).hasSize(3);
        file.release();
        assertThat(begun).hasSize(4);
    }

    @Test
    void enqueue_whileStaging_leavesRoomAndTakesItAfterwards() {
        staging = true;
        UploadGate.FileQueue file = gate.newQueue();
        enqueue(file, "a1", "a2", "a3", "a4", "a5");
        assertThat(begun).containsExactly("a1", "a2");
        staging = false;
        file.release();
        assertThat(begun).hasSize(4);
    }

    @Test
    void enqueue_whileStaging_goesOnOnceThatIsOver() throws InterruptedException {
        CountDownLatch third = new CountDownLatch(1);
        staging = true;
        UploadGate.FileQueue file = gate.newQueue();
        enqueue(file, "a1", "a2");
        file.enqueue(third::countDown);
        staging = false;
        third.await();
    }

    @Test
    void acquire_interrupted_leavesNothingBehind() throws InterruptedException {
        limits.set(values(1, 1));
        UploadGate.FileQueue file = gate.newQueue();
        file.acquire();
        Thread waiting = Thread.ofVirtual().unstarted(() -> {
            try {
                gate.newQueue().acquire();
            } catch (InterruptedException e) {
                begun.add("interrupted");
            }
        });
        waiting.start();
        waiting.interrupt();
        waiting.join();
        assertThat(begun).containsExactly("interrupted");
        file.release();
        assertThat(gate.running()).isZero();
    }

    private void enqueue(UploadGate.FileQueue queue, String... names) {
        for (String name : names) {
            queue.enqueue(() -> begun.add(name));
        }
    }

    private static WritebackLimits.Values values(int uploads, int uploadsPerFile) {
        return new WritebackLimits.Values(uploads, uploadsPerFile, 2, 1 << 30, 1 << 30, 8 << 20);
    }
}

package io.penstock.tools.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class WorkersTest {
    @ParameterizedTest
    @EnumSource
    void run_withoutLimit_doesEachTaskOnceWithABufferOfItsOwn(Workers workers) throws Exception {
        Queue<Integer> done = new ConcurrentLinkedQueue<>();
        Measurement outcome = workers.run(4, 100, Workers.NO_LIMIT, 10, (number, buffer) -> {
            assertThat(buffer.remaining()).isEqualTo(10);
            buffer.putInt(number);
            done.add(buffer.getInt(0));
        });
        assertThat(done)
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, 100).boxed().toList());
        assertThat(outcome.operations()).isEqualTo(100);
        assertThat(outcome.nanos()).isPositive();
    }

    @Test
    void run_timeIsOver_beginsNoMoreThanOneEach() throws Exception {
        Queue<Integer> done = new ConcurrentLinkedQueue<>();
        Measurement outcome = Workers.FILES.run(3, 100, Duration.ZERO, 0, (number, _) -> done.add(number));
        assertThat(done).containsExactlyInAnyOrder(0, 1, 2);
        assertThat(outcome.operations()).isEqualTo(3);
    }

    @Test
    void run_oneFails_throwsItsFailureAndBeginsNoMore() {
        AtomicInteger begun = new AtomicInteger();
        assertThatThrownBy(() -> Workers.REQUESTS.run(2, Integer.MAX_VALUE, (_, _) -> {
                    if (begun.incrementAndGet() == 10) {
                        throw new IOException("disk full");
                    }
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("disk full");
    }

    @Test
    void requests_callerInterrupted_areInterrupted() {
        AtomicBoolean interrupted = new AtomicBoolean();
        Thread caller = Thread.currentThread();
        assertThatThrownBy(() -> Workers.REQUESTS.run(1, 5, (_, _) -> {
                    caller.interrupt();
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                        interrupted.set(true);
                        throw e;
                    }
                }))
                .isInstanceOf(InterruptedException.class);
        assertThat(interrupted).isTrue();
    }

    @Test
    void files_callerInterrupted_endTheTaskThatRuns() {
        AtomicInteger ended = new AtomicInteger();
        Thread caller = Thread.currentThread();
        assertThatThrownBy(() -> Workers.FILES.run(1, 5, (_, _) -> {
                    caller.interrupt();
                    while (caller.isInterrupted()) {
                        Thread.onSpinWait(); // until the caller has noticed
                    }
                    assertThat(Thread.currentThread().isInterrupted()).isFalse();
                    ended.incrementAndGet();
                }))
                .isInstanceOf(InterruptedException.class);
        assertThat(ended.get()).isBetween(1, 2); // the stop may not have reached the thread yet
    }
}

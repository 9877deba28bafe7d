package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.writeback.WritebackStatistics;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class UploadsAtExitTest {
    private static final long MIB = 1 << 20;

    private final AtomicReference<WritebackStatistics> statistics = new AtomicReference<>(left(0, 0));
    private final CountDownLatch drained = new CountDownLatch(1);
    private final LinkedBlockingQueue<String> told = new LinkedBlockingQueue<>();
    private final CountDownLatch staged = new CountDownLatch(1);
    private final AtomicInteger ends = new AtomicInteger();
    private final UploadsAtExit backlog = new UploadsAtExit(
            statistics::get,
            drained::await,
            new UploadsAtExit.Leave() {
                @Override
                public void stage() {
                    staged.countDown();
                }

                @Override
                public List<String> end() {
                    ends.incrementAndGet();
                    return List.of();
                }
            },
            Duration.ofMillis(1));

    @Test
    void await_hurriedAndNotAllIsUploaded_leavesTheRestOnce() throws Exception {
        statistics.set(left(1, 5 * MIB));
        backlog.hurry();
        backlog.await();
        backlog.leave();
        assertThat(ends).hasValue(1);
        assertThat(staged.await(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void await_allUploaded_leavesNothing() {
        drained.countDown();
        backlog.await();
        assertThat(ends).hasValue(0);
    }

    @Test
    void watch_eachChange_isToldUntilTheEnd() throws Exception {
        backlog.watch((left, _) -> told.add(left));
        statistics.set(left(2, 36 * MIB + 5));
        assertThat(told.poll(30, TimeUnit.SECONDS)).isEqualTo("2 files, 36MiB");
        statistics.set(left(1, 5 * MIB));
        assertThat(told.poll(30, TimeUnit.SECONDS)).isEqualTo("1 file, 5MiB");
        statistics.set(left(0, 0));
        assertThat(told.poll(30, TimeUnit.SECONDS)).isEmpty();

        drained.countDown();
        backlog.await();
        assertThat(told).isEmpty();
    }

    @Test
    void watch_ofLessThanAMebibyte_isToldHowMuch() throws Exception {
        backlog.watch((left, _) -> told.add(left));
        statistics.set(left(2, 20_500));
        assertThat(told.poll(30, TimeUnit.SECONDS)).isEqualTo("2 files, 20KiB");
        statistics.set(left(1, 5));
        assertThat(told.poll(30, TimeUnit.SECONDS)).isEqualTo("1 file, 5B");

        drained.countDown();
        backlog.await();
    }

    @Test
    void await_somethingLeft_isToldUntilAllIsUploaded() throws Exception {
        statistics.set(left(1, 5 * MIB));
        backlog.tell((left, _) -> {
            told.add(left);
            drained.countDown();
        });
        backlog.await();
        assertThat(told).contains("1 file, 5MiB");
    }

    @Test
    void watch_aFileThatCouldNotBeUploaded_isToldAlsoAtTheEnd() throws Exception {
        backlog.watch((_, failed) -> told.add(failed + " failed"));
        statistics.set(new WritebackStatistics(0, 0, 0, 0, 0, 0, 1));
        assertThat(told.poll(30, TimeUnit.SECONDS)).isEqualTo("1 failed");

        statistics.set(new WritebackStatistics(0, 0, 0, 0, 0, 0, 2));
        backlog.tell((left, failed) -> told.add(left + failed + " failed at the end"));
        drained.countDown();
        backlog.await();
        assertThat(told).last().isEqualTo("2 failed at the end");
    }

    private static WritebackStatistics left(int files, long bytes) {
        return new WritebackStatistics(0, 0, files, bytes, 0, 0, 0);
    }
}

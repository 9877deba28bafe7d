package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class DiskCallsTest {
    @Test
    void call_thatEnds_isItsResultOrWhyNot() throws Exception {
        DiskCalls calls = new DiskCalls(Duration.ofDays(1));

        assertThat(calls.call(() -> 7)).isEqualTo(7);
        assertThatThrownBy(() -> calls.call(() -> {
                    throw new RefusedException("no such path");
                }))
                .isInstanceOf(RefusedException.class)
                .hasMessage("no such path");
        assertThatThrownBy(() -> calls.call(() -> {
                    throw new IOException("it is full");
                }))
                .isInstanceOf(RefusedException.class)
                .hasMessage("cannot write to the cache disk: it is full");
    }

    @Test
    void call_whoseDiskHangs_isRefusedAndGoesOnBehind() throws Exception {
        CountDownLatch hangs = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);

        assertThatThrownBy(() -> new DiskCalls(Duration.ofMillis(10)).call(() -> {
                    await(hangs);
                    done.countDown();
                    return true;
                }))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("has not responded for 0 s");

        hangs.countDown();
        done.await();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError("it was to go on", e);
        }
    }
}

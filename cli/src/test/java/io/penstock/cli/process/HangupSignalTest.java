package io.penstock.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class HangupSignalTest {
    @Test
    void signal_afterRuns_runsTheActionEachTime() throws Exception {
        for (int i = 0; i < 2; i++) {
            CountDownLatch ran = new CountDownLatch(1);
            HangupSignal.runs(ran::countDown);
            String pid = Long.toString(ProcessHandle.current().pid());

            assertThat(new ProcessBuilder("kill", "-HUP", pid).start().waitFor())
                    .isZero();

            assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }
}

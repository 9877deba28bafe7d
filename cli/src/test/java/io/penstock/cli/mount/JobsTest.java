package io.penstock.cli.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.cli.control.JobStatus.State;
import io.penstock.cli.process.RefusedException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class JobsTest {
    private static Job job() {
        return new Job("warm", List.of()) {
            @Override
            void work() {}

            @Override
            long bytes() {
                return 0;
            }
        };
    }

    @Test
    void cancel_noSuchJob_namesOnlyThoseThatRun() throws Exception {
        try (Jobs jobs = new Jobs()) {
            int ended = jobs.start(job());
            while (jobs.status(ended).state() == State.RUNNING) {
                Thread.onSpinWait();
            }
            assertThatThrownBy(() -> jobs.cancel(99))
                    .isInstanceOf(RefusedException.class)
                    .hasMessage("there is no job 99; none runs");
        }
    }

    @Test
    void start_aJobThatLeavesSomething_cleansUpAtItsEnd() throws Exception {
        CountDownLatch cleaned = new CountDownLatch(1);
        List<State> states = new ArrayList<>();
        Job job = job();
        try (Jobs jobs = new Jobs()) {
            int _ = jobs.start(job, () -> {
                states.add(job.status(1).state());
                cleaned.countDown();
            });
            cleaned.await();
        }
        assertThat(states).containsExactly(State.DONE);
    }
}

package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.serve.control.JobStatus.PathResidency;
import io.penstock.serve.control.JobStatus.State;
import io.penstock.settings.process.RefusedException;
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
                    .hasMessage("no such job: 99; no job is running");
        }
    }

    @Test
    void all_jobsWithResults_hasNoneOfTheirRows() throws Exception {
        PathResidency row = new PathResidency("a", 1, 2, 3, 4, 5, null);
        try (Jobs jobs = new Jobs()) {
            int first = ended(jobs, row);

            assertThat(jobs.status(first).residencies()).containsExactly(row);
            assertThat(jobs.all()).singleElement().satisfies(job -> {
                assertThat(job.job()).isEqualTo(first);
                assertThat(job.residencies()).isEmpty();
            });
        }
    }

    @Test
    void start_manyJobsWithResults_keepsTheLastOnes() throws Exception {
        PathResidency row = new PathResidency("a", 1, 2, 3, 4, 5, null);
        try (Jobs jobs = new Jobs()) {
            List<Integer> numbers = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                numbers.add(ended(jobs, row));
            }

            assertThat(jobs.status(numbers.getFirst()).residencies()).isEmpty();
            assertThat(jobs.status(numbers.getFirst()).state()).isEqualTo(State.DONE);
            assertThat(jobs.status(numbers.get(8)).residencies()).containsExactly(row);
            assertThat(jobs.status(numbers.getLast()).residencies()).containsExactly(row);
        }
    }

    @Test
    void start_afterAJobThatBeganFirstAndEndedLast_keepsItsResult() throws Exception {
        PathResidency row = new PathResidency("a", 1, 2, 3, 4, 5, null);
        CountDownLatch mayEnd = new CountDownLatch(1);
        try (Jobs jobs = new Jobs()) {
            int first = jobs.start(job(row, mayEnd));
            for (int i = 0; i < 10; i++) {
                ended(jobs, row);
            }
            mayEnd.countDown();
            awaitEnd(jobs, first);
            ended(jobs, row);

            assertThat(jobs.status(first).residencies()).containsExactly(row);
        }
    }

    /** The number of a job that has ended. */
    private static int ended(Jobs jobs, PathResidency result) throws RefusedException {
        int number = jobs.start(job(result, new CountDownLatch(0)));
        awaitEnd(jobs, number);
        return number;
    }

    private static Job job(PathResidency result, CountDownLatch mayEnd) {
        return new Job("residency", List.of()) {
            @Override
            void work() throws InterruptedException {
                mayEnd.await();
                found(result);
            }

            @Override
            long bytes() {
                return 0;
            }
        };
    }

    private static void awaitEnd(Jobs jobs, int number) throws RefusedException {
        while (jobs.status(number).state() == State.RUNNING) {
            Thread.onSpinWait();
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

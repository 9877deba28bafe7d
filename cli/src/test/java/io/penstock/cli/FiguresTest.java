package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.serve.control.JobStatus;
import io.penstock.serve.control.JobStatus.State;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FiguresTest {
    @Test
    void count_ofAThing_hasItsNumber() {
        assertThat(Figures.count(1, "problem")).isEqualTo("1 problem");
        assertThat(Figures.count(0, "problem")).isEqualTo("0 problems");
        assertThat(Figures.count(1200, "problem")).isEqualTo("1,200 problems");
    }

    @Test
    void describe_aJob_saysWhatIsLeftOnlyWhileItRuns() {
        assertThat(JobWatch.describe(job(State.RUNNING), 10))
                .isEqualTo("1 of 2 files, 10B of 50B (20%), 10B/s, 4 s left, 1 problem");
        assertThat(JobWatch.describe(job(State.DONE), 10))
                .isEqualTo("1 of 2 files, 10B of 50B (20%), 10B/s, 1 problem");
    }

    private static JobStatus job(State state) {
        return new JobStatus(
                1, "warm", List.of(), state, null, 1, 1, 10, 2L, 50L, null, Map.of(), 1, List.of(), List.of());
    }
}

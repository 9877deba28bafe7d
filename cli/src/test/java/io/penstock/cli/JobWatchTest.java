package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.serve.control.JobStatus;
import io.penstock.serve.control.JobStatus.Problem;
import io.penstock.serve.control.JobStatus.State;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JobWatchTest {
    private static final String NAME = "a\npenstock: all is well\u001b[2J";

    /** The status of a job with names that would forge a line and clear the screen. */
    private static final JobStatus JOB = new JobStatus(
            1,
            "warm",
            List.of(NAME),
            State.FAILED,
            NAME + " is gone",
            1,
            0,
            0,
            null,
            null,
            NAME,
            Map.of(),
            1,
            List.of(new Problem(NAME, "it is not there")),
            List.of());

    @Test
    void tellProblems_aNameWithControlCharacters_isEscaped() {
        StringWriter err = new StringWriter();
        assertThat(JobWatch.tellProblems(JOB, new PrintWriter(err, true))).isFalse();
        String name = "a\\u000apenstock: all is well\\u001b[2J";
        assertThat(err.toString().lines())
                .containsExactly("penstock: " + name + ": it is not there", "penstock: " + name + " is gone");
    }

    @Test
    void line_ofAJob_isOne() {
        assertThat(WarmCommand.line(JOB)).doesNotContain("\n", "\u001b").startsWith("1  warm a\\u000apenstock: ");
    }
}

package io.penstock.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.penstock.tools.doctor.Examiner.Check;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ExaminerTest {
    private static final Duration LONG = Duration.ofMinutes(1);

    private final List<Finding> found = new ArrayList<>();
    private final Examiner examiner = new Examiner(found::add);

    private static Check<String> echo(String name) {
        return new Check<>(name, (facts, findings) -> findings.ok(facts));
    }

    @Test
    void examine_facts_areJudgedByEachCheckAndReturned() throws Exception {
        assertThat(examiner.examine(LONG, () -> "fact", echo("one"), echo("two")))
                .isEqualTo("fact");

        assertThat(found)
                .containsExactly(
                        new Finding("one", Finding.Severity.OK, "fact", "", ""),
                        new Finding("two", Finding.Severity.OK, "fact", "", ""));
    }

    @Test
    void examine_factsThatNeverCome_isAFindingAfterTheDeadline() throws Exception {
        CountDownLatch never = new CountDownLatch(1);

        String facts = examiner.examine(
                Duration.ofMillis(10),
                () -> {
                    never.await();
                    return "fact";
                },
                echo("disk"));

        assertThat(facts).isNull();
        assertThat(found).singleElement().satisfies(finding -> {
            assertThat(finding.check()).isEqualTo("disk");
            assertThat(finding.severity()).isEqualTo(Finding.Severity.WARNING);
            assertThat(finding.found()).startsWith("no result within");
        });
    }

    @Test
    void examine_factsThatCannotBeRead_isAFindingWithTheReason() throws Exception {
        examiner.examine(
                LONG,
                () -> {
                    throw new NoSuchFileException("/proc/none");
                },
                echo("machine"));

        assertThat(found)
                .singleElement()
                .extracting(Finding::found)
                .isEqualTo("could not be examined: no such file: /proc/none");
    }

    @Test
    void examine_checkThatFails_isAFindingAndTheNextCheckGoesOn() throws Exception {
        Check<String> broken = new Check<>("broken", (facts, findings) -> {
            findings.ok(facts);
            throw new IllegalStateException("a mistake");
        });

        examiner.examine(LONG, () -> "fact", broken, echo("next"));

        assertThat(found)
                .extracting(Finding::check, Finding::severity)
                .containsExactly(tuple("broken", Finding.Severity.WARNING), tuple("next", Finding.Severity.OK));
    }
}

package io.penstock.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ReportTest {
    private static final Finding SHORT = new Finding("fuse", Finding.Severity.OK, "it opens", "", "");

    @Test
    void lines_ofAFinding_areOneOrThree() {
        assertThat(Report.lines(SHORT)).isEqualTo("ok       fuse           it opens\n");
        assertThat(Report.lines(new Finding("log", Finding.Severity.WARNING, "full", "No log", "Free space")))
                .isEqualTo("""
                    warning  log            full
                                            No log.
                                            → Free space
                    """);
    }

    @Test
    void lines_longText_isWrappedBetweenWords() {
        String path = "/a/path/that/is/longer/than/a/line/" + "x".repeat(100);
        Finding finding = new Finding("log", Finding.Severity.ERROR, "word ".repeat(40) + path, "", "");

        assertThat(Report.lines(finding).lines())
                .allSatisfy(line ->
                        assertThat(line.length() <= 100 || line.endsWith(path)).isTrue())
                .anyMatch(line -> line.strip().equals(path))
                .hasSizeGreaterThan(3);
    }

    @Test
    void lines_textWithControlCharacters_hasThemEscaped() {
        assertThat(Report.lines(new Finding("log", Finding.Severity.WARNING, "a\u001b[2J\nb", "", "")))
                .isEqualTo("warning  log            a\\u001b[2J b\n");
    }

    @Test
    void summary_countsWhatIsToBeDone() {
        Finding warning = new Finding("log", Finding.Severity.WARNING, "full", "", "");
        Finding error = new Finding("fuse", Finding.Severity.ERROR, "none", "", "");
        assertThat(Report.summary(List.of(SHORT))).isEqualTo("No errors or warnings.");
        assertThat(Report.summary(List.of(error, warning, warning))).isEqualTo("1 error, 2 warnings.");
    }

    @Test
    void json_ofFindings_isAnArrayWithAllFields() {
        assertThat(Report.json(List.of()).strip()).isEqualTo("[ ]");
        assertThat(Report.json(List.of(new Finding("log", Finding.Severity.WARNING, "a \"b\"", "why", "do"))))
                .contains(
                        "\"severity\" : \"warning\"",
                        "\"check\" : \"log\"",
                        "\"found\" : \"a \\\"b\\\"\"",
                        "\"why\" : \"why\"",
                        "\"remedy\" : \"do\"");
    }
}

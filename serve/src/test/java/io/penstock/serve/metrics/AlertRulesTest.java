package io.penstock.serve.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** packaging/prometheus/alerts.yaml. */
class AlertRulesTest {
    private static final Path RULES = Path.of("../packaging/prometheus/alerts.yaml");

    @TempDir
    private Path scratch;

    @Test
    void rules_byPrometheusParser_areValidAndUseMetricsThatThereAre() throws Exception {
        PromqlCheck.assumePresent();
        Set<String> used = PromqlCheck.metrics(RULES);

        assertThat(used).hasSizeGreaterThan(10);
        assertThat(StatisticsPageTest.metrics()).containsAll(used);
    }

    /** Shows that the check can fail. */
    @Test
    void rules_thatDoNotParse_areRefused() throws Exception {
        PromqlCheck.assumePresent();
        Path wrong = Files.writeString(
                scratch.resolve("wrong.yaml"),
                Files.readString(RULES).replace("absent(penstock_uptime_seconds)", "absent(penstock_uptime_seconds"));

        assertThatThrownBy(() -> PromqlCheck.metrics(wrong))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("unclosed left parenthesis");
    }

    @Test
    void rules_all_sayWhatIsWrongAndWhatToDo() throws Exception {
        String text = Files.readString(RULES);

        int alerts = count(text, "- alert: ");
        assertThat(alerts).isGreaterThanOrEqualTo(10);
        assertThat(count(text, " summary: ")).isEqualTo(alerts);
        assertThat(count(text, " action: ")).isEqualTo(alerts);
    }

    private static int count(String text, String part) {
        return text.split(part, -1).length - 1;
    }
}

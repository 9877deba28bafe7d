package io.penstock.cli.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** packaging/grafana/penstock.json. */
class GrafanaDashboardTest {
    private static final Pattern SELECTED = Pattern.compile("(penstock_[a-z_]+)\\{([^}]*)}");

    private static JsonNode dashboard() throws IOException {
        return JsonMapper.builder()
                .build()
                .readTree(Path.of("../packaging/grafana/penstock.json").toFile());
    }

    private static List<String> expressions() throws IOException {
        return dashboard().findValues("expr").stream().map(JsonNode::asText).toList();
    }

    @Test
    void expressions_ofAllPanels_useMetricsThatThereAre() throws IOException {
        Set<String> used = new TreeSet<>();
        for (String expression : expressions()) {
            Matcher metric = Pattern.compile("penstock_[a-z_]+").matcher(expression);
            while (metric.find()) {
                used.add(metric.group());
            }
        }
        assertThat(used).hasSizeGreaterThan(20);
        assertThat(PrometheusEndpointTest.documented()).containsAll(used);
    }

    @Test
    void expressions_ofAllPanels_areOfTheChosenMounts() throws IOException {
        assertThat(expressions()).allSatisfy(expression -> {
            List<String> selectors = SELECTED.matcher(expression)
                    .results()
                    .map(found -> found.group(2))
                    .toList();
            assertThat(selectors)
                    .isNotEmpty()
                    .allMatch(selector -> selector.startsWith("source=~\"$source\", mount=~\"$mount\""));
        });
    }

    @Test
    void panels_all_haveATitleAndAPlaceOfTheirOwn() throws IOException {
        List<String> places = dashboard()
                .get("panels")
                .valueStream()
                .map(panel -> panel.get("gridPos").get("x") + ","
                        + panel.get("gridPos").get("y"))
                .toList();

        assertThat(places).doesNotHaveDuplicates();
        assertThat(dashboard().get("panels").valueStream())
                .noneMatch(panel -> panel.get("title").asText().isEmpty());
    }
}

package io.penstock.serve.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** packaging/grafana/penstock.json. */
class GrafanaDashboardTest {
    private static final Pattern SELECTED = Pattern.compile("(penstock_[a-z_]+)\\{([^}]*)}");

    private static final JsonMapper JSON = JsonMapper.builder().build();

    @TempDir
    private Path scratch;

    private static JsonNode dashboard() throws IOException {
        return JSON.readTree(Path.of("../packaging/grafana/penstock.json").toFile());
    }

    private static List<String> expressions() throws IOException {
        return dashboard().findValues("expr").stream().map(JsonNode::asText).toList();
    }

    @Test
    void expressions_byPrometheusParser_areValidAndUseKnownMetrics() throws Exception {
        PromqlCheck.assumePresent();
        Set<String> used = PromqlCheck.metrics(asRules(expressions()));

        assertThat(used).hasSizeGreaterThan(20);
        assertThat(StatisticsPageTest.metrics()).containsAll(used);
    }

    /** Replaces the variables as Grafana does. JSON is YAML. */
    private Path asRules(List<String> expressions) throws IOException {
        ArrayNode rules = JSON.createArrayNode();
        for (String expression : expressions) {
            rules.addObject()
                    .put("record", "panel:" + rules.size())
                    .put("expr", expression.replace("$__rate_interval", "1m").replaceAll("\\$(source|mount)", ".*"));
        }
        ObjectNode file = JSON.createObjectNode();
        file.putArray("groups").addObject().put("name", "dashboard").set("rules", rules);
        return Files.writeString(scratch.resolve("dashboard.yaml"), file.toString());
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

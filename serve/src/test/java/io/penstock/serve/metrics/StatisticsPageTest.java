package io.penstock.serve.metrics;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toList;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.serve.control.Json;
import io.penstock.serve.control.Statistic;
import io.penstock.serve.control.Statistic.Kind;
import io.penstock.serve.control.Statistic.Unit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/STATISTICS.md, which is made here from the list of statistics. */
class StatisticsPageTest {
    private static final Path PAGE = Path.of("../docs/STATISTICS.md");

    private static final String HEAD = """
        # Statistics

        <!-- Made from Statistic.java: StatisticsPageTest writes serve/target/STATISTICS.md, and fails if this page differs. -->

        These are the numbers of a mount. [OPERATIONS](OPERATIONS.md#penstock-stats) explains how to read them with
        `penstock stats`, and how to [export them](OPERATIONS.md#metrics) to Prometheus or OpenTelemetry.

        - **metric**: the name in Prometheus. With OTLP the names have dots instead of `_`, and end in no unit and no
          `_total`. Every metric also has the labels `source` and `mount`. Metrics of writes, of the cache group and of
          the listing of the whole bucket exist only where the mount has these.
        - **labels**: `*` is a name from the JSON, such as a call of the kernel or an error.
        - **JSON**: the field in `penstock stats --json`; none if the number is computed from others, or is the
          process's own. Times are in nanoseconds if the name says so, otherwise in seconds.

        | metric | labels | JSON | |
        |---|---|---|---|
        """;

    private static String page() {
        Map<String, List<Statistic>> families =
                Stream.of(Statistic.values()).collect(groupingBy(Statistic::metric, LinkedHashMap::new, toList()));
        return HEAD + families.values().stream().map(StatisticsPageTest::row).collect(joining());
    }

    private static String row(List<Statistic> family) {
        Statistic first = family.getFirst();
        Map<String, Set<String>> labels = family.stream()
                .flatMap(each -> each.labels().entrySet().stream())
                .collect(groupingBy(
                        Map.Entry::getKey,
                        LinkedHashMap::new,
                        mapping(Map.Entry::getValue, Collectors.toCollection(LinkedHashSet::new))));
        String texts = labels.entrySet().stream()
                .map(label -> "`" + label.getKey() + "`: " + values(label.getKey(), label.getValue()))
                .collect(joining("; "));
        String fields = family.stream()
                .map(Statistic::path)
                .filter(path -> !path.isEmpty())
                .distinct()
                .map(path -> "`" + path + "`")
                .collect(joining(", "));
        return "| `%s` | %s | %s | %s |%n".formatted(prometheus(first), texts, fields, first.help());
    }

    private static String values(String label, Set<String> values) {
        return label.equals("version")
                ? "`*`"
                : values.stream().map(value -> "`" + value + "`").collect(joining(", "));
    }

    private static String prometheus(Statistic statistic) {
        boolean hasUnit = statistic.unit() == Unit.BYTES || statistic.unit() == Unit.SECONDS;
        return "penstock_" + statistic.metric().replace('.', '_')
                + (hasUnit ? "_" + statistic.unit().name().toLowerCase(Locale.ROOT) : "")
                + (statistic.kind() == Kind.COUNTER ? "_total" : "");
    }

    /** The names of all metrics. */
    static Set<String> metrics() {
        return Stream.of(Statistic.values())
                .map(StatisticsPageTest::prometheus)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void page_inDocs_isMadeFromTheList() throws IOException {
        Files.writeString(Path.of("target/STATISTICS.md"), page());

        assertThat(PAGE).hasContent(page());
    }

    @Test
    void paths_ofAllStatistics_areFieldsOfTheJson() {
        JsonNode all = Json.tree(Statistics.of(1, true));

        assertThat(Statistic.values())
                .allSatisfy(statistic ->
                        assertThat(statistic.keys(all)).as(statistic.name()).isNotEmpty());
    }

    @Test
    void of_withoutKeys_isTheSum() {
        JsonNode all = Json.tree(Statistics.of(1, true));

        assertThat(Statistic.NATIVE.of(all)).isEqualTo(43 + 45 + 48 + 46 + 47 + 44);
        assertThat(Statistic.NATIVE.of(all, "pages")).isEqualTo(43);
        assertThat(Statistic.CALLS_WITHIN.keys(all))
                .containsExactly(List.of("read", "65536"), List.of("read", "17179869184"));
        assertThat(Statistic.MEMBERS.of(all)).isEqualTo(1);
        assertThat(Statistic.UPLOADED.of(Json.tree(Statistics.of(1, false)))).isZero();
    }
}

package io.penstock.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/** Formats results: rows with the ratios to their ceilings, then the ceilings. */
final class ReportTable {
    private final Measurements results;
    private final List<ReportRow> rows;

    ReportTable(Measurements results, List<ReportRow> rows) {
        this.results = results;
        this.rows = rows.stream()
                .filter(row -> results.summary(row.name()).isPresent())
                .toList();
    }

    /**
     * How close a row comes to a ceiling.
     *
     * @param value the quotient of the median rates
     * @param of the measurement used as the ceiling
     */
    record Ratio(double value, String of) {}

    /** A row's name and its ratio to the ceiling that counts. */
    record Bar(String name, double ratio) {}

    /** Empty if the ceiling was not measured. */
    Optional<Ratio> ratio(ReportRow row, ReportRow.Ceiling ceiling) {
        return results.fastest(ceiling.names())
                .map(name -> new Ratio(mibPerSecond(row.name()) / mibPerSecond(name), name));
    }

    private double mibPerSecond(String name) {
        return results.summary(name).orElseThrow().mibPerSecond();
    }

    List<Bar> bars() {
        List<Bar> bars = new ArrayList<>();
        for (ReportRow row : rows) {
            row.ceilings().stream()
                    .findFirst()
                    .flatMap(ceiling -> ratio(row, ceiling))
                    .ifPresent(ratio -> bars.add(new Bar(row.name(), ratio.value())));
        }
        return bars;
    }

    /** Two tables. */
    String markdown() {
        StringBuilder text = new StringBuilder();
        text.append("| | MiB/s | per s | p50 ms | p99 ms | CPU s/GiB | resident MiB | of its ceiling |\n");
        text.append("|---|--:|--:|--:|--:|--:|--:|---|\n");
        for (ReportRow row : rows) {
            Summary summary = results.summary(row.name()).orElseThrow();
            text.append(line(
                    row.name(),
                    figures(summary),
                    optional(summary.cpuSecondsPerGib()),
                    optional(summary.peakResidentMib()),
                    ratios(row)));
        }
        text.append("\n| ceiling | MiB/s | per s | p50 ms | p99 ms | CPU s/GiB |\n|---|--:|--:|--:|--:|--:|\n");
        List<String> shown = rows.stream().map(ReportRow::name).toList();
        for (String name : results.names()) {
            if (!shown.contains(name)) {
                Summary summary = results.summary(name).orElseThrow();
                text.append(line(name, figures(summary), optional(summary.cpuSecondsPerGib())));
            }
        }
        return text.toString();
    }

    private String ratios(ReportRow row) {
        return row.ceilings().stream()
                .flatMap(ceiling -> ratio(row, ceiling)
                        .map(ratio -> String.format(
                                Locale.ROOT,
                                "%.2f of %s%s",
                                ratio.value(),
                                ceiling.isBestOfSeveral() ? "the best, " : "",
                                ratio.of()))
                        .stream())
                .distinct()
                .collect(Collectors.joining("; "));
    }

    private static String figures(Summary summary) {
        return String.join(
                " | ",
                significant(summary.mibPerSecond()),
                significant(summary.operationsPerSecond()),
                significant(summary.p50Millis()),
                significant(summary.p99Millis()));
    }

    private static String line(String... cells) {
        return "| " + String.join(" | ", cells) + " |\n";
    }

    /** A dash if there is no value. */
    static String optional(OptionalDouble value) {
        return value.isPresent() ? significant(value.getAsDouble()) : "–";
    }

    /** Three significant digits with grouped thousands; no decimals from 100 on. */
    static String significant(double value) {
        int digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
        return String.format(Locale.ROOT, "%,." + digits + "f", value);
    }
}

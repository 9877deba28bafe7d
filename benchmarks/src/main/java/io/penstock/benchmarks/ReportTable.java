package io.penstock.benchmarks;

import io.penstock.benchmarks.ReportFigures.Column;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** Formats results: rows with the ratios to their ceilings, then the ceilings. */
final class ReportTable {
    private final Measurements results;
    private final List<ReportRow> rows;

    ReportTable(Measurements results, List<ReportRow> rows) {
        this.results = results;
        this.rows =
                rows.stream().filter(row -> !results.of(row.name()).isEmpty()).toList();
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
                .map(name -> new Ratio(results.rate(row.name()) / results.rate(name), name));
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
        List<Column> columns = results.figures().columns();
        StringBuilder text = new StringBuilder(head("", columns, " of its ceiling |", "---|"));
        for (ReportRow row : rows) {
            text.append(line(row.name(), columns))
                    .append(' ')
                    .append(ratios(row))
                    .append(" |\n");
        }
        text.append('\n').append(head("ceiling", columns, "", ""));
        List<String> shown = rows.stream().map(ReportRow::name).toList();
        results.names().stream()
                .filter(name -> !shown.contains(name))
                .forEach(name -> text.append(line(name, columns)).append('\n'));
        return text.toString();
    }

    private static String head(String title, List<Column> columns, String last, String lastRule) {
        return "| " + title + " | " + columns.stream().map(Column::title).collect(Collectors.joining(" | ")) + " |"
                + last + "\n|---|" + "--:|".repeat(columns.size()) + lastRule + "\n";
    }

    private String line(String name, List<Column> columns) {
        List<Sample> samples = results.of(name);
        return "| " + name + " | "
                + columns.stream().map(column -> column.cell().apply(samples)).collect(Collectors.joining(" | "))
                + " |";
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
}

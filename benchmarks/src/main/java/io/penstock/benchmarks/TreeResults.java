package io.penstock.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** All measurements of names, and the format of their report. Confined to one thread. */
final class TreeResults {
    private static final double MIB = 1 << 20;

    private final Map<String, List<NamesSample>> steps = new LinkedHashMap<>();
    private final Consumer<String> progress;

    /** @param progress receives a line for each step */
    TreeResults(Consumer<String> progress) {
        this.progress = progress;
    }

    void add(String name, NamesSample step) {
        steps.computeIfAbsent(name, _ -> new ArrayList<>()).add(step);
        progress.accept(String.format(
                Locale.ROOT,
                "  %-64s %9.3f s %,12.0f /s %8s requests",
                name,
                step.seconds(),
                step.perSecond(),
                step.requests().isPresent()
                        ? String.format(Locale.ROOT, "%,d", step.requests().getAsLong())
                        : "–"));
    }

    /** The median rate of the row as a fraction of the ceiling's. Empty if one of them was not measured. */
    OptionalDouble ratio(ReportRow row, ReportRow.Ceiling ceiling) {
        double of = ceiling.names().stream()
                .filter(steps::containsKey)
                .mapToDouble(name -> median(name, NamesSample::perSecond))
                .max()
                .orElse(Double.NaN);
        return Double.isNaN(of) || !steps.containsKey(row.name())
                ? OptionalDouble.empty()
                : OptionalDouble.of(median(row.name(), NamesSample::perSecond) / of);
    }

    List<ReportTable.Bar> bars(List<ReportRow> rows) {
        List<ReportTable.Bar> bars = new ArrayList<>();
        for (ReportRow row : rows) {
            row.ceilings().stream()
                    .findFirst()
                    .map(ceiling -> ratio(row, ceiling))
                    .flatMap(ratio -> ratio.stream().boxed().findFirst())
                    .ifPresent(ratio -> bars.add(new ReportTable.Bar(row.name(), ratio)));
        }
        return bars;
    }

    /** A table of the measured rows, and one of their ceilings. */
    String markdown(List<ReportRow> rows) {
        StringBuilder text = new StringBuilder(head("", " | of its ceiling |", "|---|\n"));
        List<String> shown = rows.stream().map(ReportRow::name).toList();
        for (ReportRow row : rows) {
            if (steps.containsKey(row.name())) {
                text.append(figures(row.name()))
                        .append(" | ")
                        .append(ratios(row))
                        .append(" |\n");
            }
        }
        text.append('\n').append(head("ceiling", " |", "|\n"));
        steps.keySet().stream()
                .filter(name -> !shown.contains(name))
                .forEach(name -> text.append(figures(name)).append(" |\n"));
        return text.toString();
    }

    private static String head(String title, String end, String endOfRule) {
        return "| " + title + " | s | per s | requests | CPU s | per CPU s | resident MiB" + end
                + "\n|---|--:|--:|--:|--:|--:|--:" + endOfRule;
    }

    private String figures(String name) {
        boolean served = steps(name).stream().allMatch(step -> step.sample().cost() != null);
        double cpuSeconds = served ? median(name, step -> cost(step).cpuSeconds()) : 0;
        return "| "
                + String.join(
                        " | ",
                        name,
                        ReportTable.significant(median(name, NamesSample::seconds)),
                        median(name, TreeResults::names) > 1
                                ? ReportTable.significant(median(name, NamesSample::perSecond))
                                : "–",
                        steps(name).stream().allMatch(step -> step.requests().isPresent())
                                ? String.format(
                                        Locale.ROOT,
                                        "%,.0f",
                                        median(name, step -> step.requests().orElseThrow()))
                                : "–",
                        served ? ReportTable.significant(cpuSeconds) : "–",
                        cpuSeconds > 0 ? ReportTable.significant(median(name, TreeResults::names) / cpuSeconds) : "–",
                        served
                                ? ReportTable.significant(
                                        median(name, step -> cost(step).peakResidentBytes() / MIB))
                                : "–");
    }

    private String ratios(ReportRow row) {
        return row.ceilings().stream()
                .flatMap(ceiling -> ratio(row, ceiling).stream()
                        .mapToObj(ratio -> String.format(
                                Locale.ROOT,
                                "%.2f of %s",
                                ratio,
                                ceiling.names().getFirst())))
                .collect(Collectors.joining("; "));
    }

    private double median(String name, ToDoubleFunction<NamesSample> figure) {
        return Summary.median(steps(name), figure).orElseThrow();
    }

    private List<NamesSample> steps(String name) {
        return Objects.requireNonNull(steps.get(name), name);
    }

    private static double names(NamesSample step) {
        return step.sample().measurement().operations();
    }

    private static Sample.Cost cost(NamesSample step) {
        return Objects.requireNonNull(step.sample().cost());
    }
}

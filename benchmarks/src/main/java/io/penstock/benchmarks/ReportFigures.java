package io.penstock.benchmarks;

import io.penstock.tools.measure.Measurement;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** The figures of a report, those of bytes or those of names; each is the median of the rounds. */
enum ReportFigures {
    BYTES,
    NAMES;

    private static final double MIB = 1 << 20;
    private static final double GIB = 1 << 30;

    /** A column of a table. */
    record Column(String title, Function<List<Sample>, String> cell) {}

    List<Column> columns() {
        Column resident = ofServed("resident MiB", sample -> cost(sample).peakResidentBytes() / MIB);
        return switch (this) {
            case BYTES ->
                List.of(
                        of("MiB/s", Measurement::mibPerSecond),
                        of("per s", Measurement::operationsPerSecond),
                        of("p50 ms", run -> run.p50Nanos() / 1e6),
                        of("p99 ms", run -> run.p99Nanos() / 1e6),
                        ofServed(
                                "CPU s/GiB",
                                sample -> cost(sample).cpuSeconds()
                                        / (sample.measurement().bytes() / GIB)),
                        resident);
            case NAMES ->
                List.of(
                        of("s", Measurement::seconds),
                        new Column("per s", samples -> names(samples) > 1 ? significant(rate(samples)) : "–"),
                        new Column("requests", ReportFigures::requests),
                        ofServed("CPU s", sample -> cost(sample).cpuSeconds()),
                        new Column("per CPU s", ReportFigures::perCpuSecond),
                        resident);
        };
    }

    private static Column of(String title, ToDoubleFunction<Measurement> figure) {
        return new Column(
                title, samples -> optional(median(samples, sample -> figure.applyAsDouble(sample.measurement()))));
    }

    private static Column ofServed(String title, ToDoubleFunction<Sample> figure) {
        return new Column(title, samples -> optional(median(served(samples), figure)));
    }

    /** Those of a process, not of the kernel alone. */
    private static List<Sample> served(List<Sample> samples) {
        return samples.stream().filter(sample -> sample.cost() != null).toList();
    }

    private static Sample.Cost cost(Sample sample) {
        return Objects.requireNonNull(sample.cost());
    }

    private static String requests(List<Sample> samples) {
        return samples.stream().allMatch(sample -> sample.requests().isPresent())
                ? String.format(
                        Locale.ROOT,
                        "%,.0f",
                        median(samples, sample -> sample.requests().orElseThrow())
                                .orElseThrow())
                : "–";
    }

    private static double names(List<Sample> samples) {
        return median(samples, sample -> sample.measurement().operations()).orElseThrow();
    }

    private static String perCpuSecond(List<Sample> samples) {
        double seconds =
                median(served(samples), sample -> cost(sample).cpuSeconds()).orElse(0);
        return seconds > 0 ? significant(names(samples) / seconds) : "–";
    }

    /** The rate that is compared with a ceiling's. */
    double rate(List<Sample> samples) {
        return median(samples, sample -> rate(sample.measurement())).orElseThrow();
    }

    private double rate(Measurement run) {
        return this == BYTES ? run.mibPerSecond() : run.operationsPerSecond();
    }

    /** A sample as a line for people who wait. */
    String line(String name, Sample sample) {
        Measurement run = sample.measurement();
        return switch (this) {
            case BYTES ->
                String.format(
                        Locale.ROOT,
                        "  %-58s %8.0f MiB/s %9.0f /s   p50 %.3f ms, p99 %.3f ms",
                        name,
                        run.mibPerSecond(),
                        run.operationsPerSecond(),
                        run.p50Nanos() / 1e6,
                        run.p99Nanos() / 1e6);
            case NAMES ->
                String.format(
                        Locale.ROOT,
                        "  %-64s %9.3f s %,12.0f /s %8s requests",
                        name,
                        run.seconds(),
                        run.operationsPerSecond(),
                        requests(List.of(sample)));
        };
    }

    /** Empty if there are no items. */
    static <T> OptionalDouble median(List<T> items, ToDoubleFunction<T> figure) {
        double[] sorted = items.stream().mapToDouble(figure).toArray();
        if (sorted.length == 0) {
            return OptionalDouble.empty();
        }
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return OptionalDouble.of(sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2);
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

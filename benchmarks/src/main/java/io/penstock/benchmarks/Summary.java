package io.penstock.benchmarks;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;

/**
 * The medians of a run's rounds, separately for each figure.
 *
 * @param cpuSecondsPerGib of the serving process; empty if only the kernel served
 * @param peakResidentMib likewise
 */
record Summary(
        double mibPerSecond,
        double operationsPerSecond,
        double p50Millis,
        double p99Millis,
        OptionalDouble cpuSecondsPerGib,
        OptionalDouble peakResidentMib) {
    private static final double MIB = 1 << 20;
    private static final double GIB = 1 << 30;

    static Summary of(List<Sample> samples) {
        List<Measurement> runs = samples.stream().map(Sample::measurement).toList();
        List<Sample> served =
                samples.stream().filter(sample -> sample.cost() != null).toList();
        return new Summary(
                median(runs, Measurement::mibPerSecond).orElseThrow(),
                median(runs, Measurement::operationsPerSecond).orElseThrow(),
                median(runs, run -> run.p50Nanos() / 1e6).orElseThrow(),
                median(runs, run -> run.p99Nanos() / 1e6).orElseThrow(),
                median(
                        served,
                        sample -> cost(sample).cpuSeconds()
                                / (sample.measurement().bytes() / GIB)),
                median(served, sample -> cost(sample).peakResidentBytes() / MIB));
    }

    private static Sample.Cost cost(Sample sample) {
        return Objects.requireNonNull(sample.cost());
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
}

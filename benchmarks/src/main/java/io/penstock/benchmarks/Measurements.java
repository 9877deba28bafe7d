package io.penstock.benchmarks;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** All measurements, by name and round. Confined to one thread. */
final class Measurements {
    private final Map<String, List<Sample>> samples = new LinkedHashMap<>();
    private final Consumer<String> progress;

    /** @param progress receives a line for each sample */
    Measurements(Consumer<String> progress) {
        this.progress = progress;
    }

    void add(String name, Sample sample) {
        samples.computeIfAbsent(name, _ -> new ArrayList<>()).add(sample);
        Measurement run = sample.measurement();
        progress.accept(String.format(
                Locale.ROOT,
                "  %-58s %8.0f MiB/s %9.0f /s   p50 %.3f ms, p99 %.3f ms",
                name,
                run.mibPerSecond(),
                run.operationsPerSecond(),
                run.p50Nanos() / 1e6,
                run.p99Nanos() / 1e6));
    }

    /** The measurements of this name; empty if there are none. */
    Optional<Summary> summary(String name) {
        return Optional.ofNullable(samples.get(name)).map(Summary::of);
    }

    /** The fastest of these names, among those measured. */
    Optional<String> fastest(List<String> names) {
        return names.stream()
                .filter(samples::containsKey)
                .max(Comparator.comparingDouble(
                        name -> summary(name).orElseThrow().mibPerSecond()));
    }

    /** All names, in the order of their first measurement. */
    List<String> names() {
        return List.copyOf(samples.keySet());
    }
}

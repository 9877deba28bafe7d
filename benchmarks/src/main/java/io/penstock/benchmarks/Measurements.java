package io.penstock.benchmarks;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** All measurements, by name and round. Confined to one thread. */
final class Measurements {
    private final Map<String, List<Sample>> samples = new LinkedHashMap<>();
    private final ReportFigures figures;
    private final Consumer<String> progress;

    /** @param progress receives a line for each sample */
    Measurements(ReportFigures figures, Consumer<String> progress) {
        this.figures = figures;
        this.progress = progress;
    }

    ReportFigures figures() {
        return figures;
    }

    void add(String name, Sample sample) {
        samples.computeIfAbsent(name, _ -> new ArrayList<>()).add(sample);
        progress.accept(figures.line(name, sample));
    }

    /** One a round; empty if this was not measured. */
    List<Sample> of(String name) {
        return samples.getOrDefault(name, List.of());
    }

    double rate(String name) {
        return figures.rate(of(name));
    }

    /** The fastest of these names, among those measured. */
    Optional<String> fastest(List<String> names) {
        return names.stream().filter(samples::containsKey).max(Comparator.comparingDouble(this::rate));
    }

    /** All names, in the order of their first measurement. */
    List<String> names() {
        return List.copyOf(samples.keySet());
    }
}

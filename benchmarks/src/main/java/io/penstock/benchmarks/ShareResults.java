package io.penstock.benchmarks;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Where the bytes of each row came from, over all rounds, in addition to the other results. Confined to one thread. */
final class ShareResults {
    private final Measurements results;
    private final Consumer<String> progress;
    private final Map<String, Entry> entries = new LinkedHashMap<>();

    private record Entry(GroupTraffic traffic, long bytes) {
        double copies() {
            return (double) traffic.fetched() / bytes;
        }

        double percentFromPeers() {
            return 100.0 * traffic.fromPeers() / Math.max(1, traffic.fromPeers() + traffic.fetched());
        }
    }

    /** @param progress receives a line for each addition */
    ShareResults(Measurements results, Consumer<String> progress) {
        this.results = results;
        this.progress = progress;
    }

    /** @param bytes that the nodes read, each counted once, however many nodes read it */
    void add(String name, GroupTraffic traffic, long bytes) {
        Entry entry = new Entry(traffic, bytes);
        progress.accept(String.format(
                Locale.ROOT,
                "    %.3f copies, %.0f %% from other nodes; fell back: %s",
                entry.copies(),
                entry.percentFromPeers(),
                traffic.causes()));
        entries.merge(name, entry, (all, one) -> new Entry(all.traffic.plus(one.traffic), all.bytes + one.bytes));
    }

    /** @param rows those measured in groups get a line */
    String markdown(List<ReportRow> rows) {
        StringBuilder text = new StringBuilder("""
            | | copies | GETs | from other nodes | fell back to the store | members | p99, of its ceiling's |
            |---|--:|--:|--:|---|--:|--:|
            """);
        entries.forEach((name, entry) -> text.append(line(name, entry, rows)));
        return text.toString();
    }

    private String line(String name, Entry entry, List<ReportRow> rows) {
        GroupTraffic traffic = entry.traffic();
        return String.format(
                Locale.ROOT,
                "| %s | %.3f | %,d | %.0f %% | %s | %d | %s |%n",
                name,
                entry.copies(),
                traffic.gets(),
                entry.percentFromPeers(),
                traffic.causes(),
                traffic.members(),
                slowest(name, rows).map(ReportFigures::significant).orElse("–"));
    }

    private Optional<Double> slowest(String name, List<ReportRow> rows) {
        return rows.stream()
                .filter(row -> row.name().equals(name))
                .flatMap(row -> row.ceilings().stream())
                .findFirst()
                .flatMap(ceiling -> results.fastest(ceiling.names()))
                .map(ceiling -> p99(name) / p99(ceiling));
    }

    private double p99(String name) {
        return ReportFigures.median(
                        results.of(name), sample -> sample.measurement().p99Nanos())
                .orElse(Double.NaN);
    }
}

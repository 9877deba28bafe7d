package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of the benchmarks that measure in rounds: the number of rounds, and the options of every benchmark. */
final class RunOptions {
    @Option(names = "--quick", description = "A trial of some minutes: one round, less data. Not for publication.")
    private boolean quick;

    @Option(
            names = "--rounds",
            paramLabel = "<n>",
            description = "The number of rounds, whose medians are reported. Default: 3.")
    private @Nullable Integer rounds;

    @Mixin
    private PlaceOptions place;

    boolean quick() {
        return quick;
    }

    int rounds() {
        return rounds != null ? rounds : quick ? 1 : 3;
    }

    PlaceOptions place() {
        return place;
    }

    /** @param needed bytes that the run will write to the disk */
    BenchRun open(long needed) throws IOException, InterruptedException, BenchException {
        return BenchRun.open(place, needed);
    }

    /** The scenarios of the groups chosen by the user, in the order of the groups. */
    static <G extends Enum<G>, R> List<Scenario<R>> scenarios(List<G> only, Function<G, Scenario<R>> scenario) {
        return only.stream().distinct().sorted().map(scenario).toList();
    }

    /** Measures all scenarios in each round. */
    <R> void measure(List<Scenario<R>> scenarios, R rig) throws Exception {
        measure(scenarios, rig, _ -> {}, _ -> {});
    }

    /**
     * Measures all scenarios in each round.
     *
     * @param before called before each round
     * @param after called after each scenario
     */
    <R> void measure(List<Scenario<R>> scenarios, R rig, Scenario.Step<R> before, Scenario.Step<R> after)
            throws Exception {
        for (int round = 1; round <= rounds(); round++) {
            System.err.println("round " + round + " of " + rounds());
            before.run(rig);
            for (Scenario<R> scenario : scenarios) {
                scenario.round().run(rig);
                after.run(rig);
            }
        }
    }

    /** The rows of a report: these, followed by those of the scenarios. */
    static List<ReportRow> rows(List<? extends Scenario<?>> scenarios, ReportRow... first) {
        return Stream.concat(Arrays.stream(first), scenarios.stream().flatMap(scenario -> scenario.rows().stream()))
                .toList();
    }

    /** The circumstances that a reader of the figures must know; also printed. */
    String heading(String command, BenchRun run, S3Target server, String data) {
        String heading = String.format(
                Locale.ROOT,
                "`bin/bench %s` on %s, %s. %s, %s. Mount options: %s.",
                command,
                server.name(),
                run.machine().describe(),
                data,
                rounds() == 1 ? "one round" : "medians of " + rounds() + " rounds",
                place.settings());
        System.err.println(heading);
        return heading;
    }

    /**
     * Prints the tables, and writes them and the chart to {@code NAME.md} and {@code NAME.svg}.
     *
     * @param more text below the tables
     */
    void publish(String name, String heading, String title, ReportTable report, String more) throws IOException {
        Path chart = place.results().resolve(name + ".svg");
        Files.writeString(chart, Chart.svg(title, report.bars()));
        place.publish(name, heading + "\n\n" + report.markdown() + more);
        System.err.println("written: " + chart);
    }
}

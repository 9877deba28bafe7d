package io.penstock.benchmarks;

import io.penstock.objectstore.S3Config;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of the benchmarks that measure in rounds: how often, and those of every benchmark. */
final class RunOptions {
    @Option(names = "--quick", description = "A look in minutes: one round, less data. No figures to publish.")
    private boolean quick;

    @Option(names = "--rounds", paramLabel = "<n>", description = "Medians are taken of so many rounds. Default: 3.")
    private @Nullable Integer rounds;

    @Mixin
    private PlaceOptions place;

    boolean quick() {
        return quick;
    }

    int rounds() {
        return rounds != null ? rounds : quick ? 1 : 3;
    }

    S3Config.HttpClient httpClient() {
        return place.httpClient();
    }

    /** Options of {@code penstock mount}. */
    List<String> mountOptions() {
        return place.mountOptions();
    }

    /** @param needed bytes that the run is going to write there */
    Scratch openScratch(long needed) throws IOException, BenchException {
        return place.openScratch(needed);
    }

    /** The circumstances that a reader of the figures has to know. */
    String heading(String command, Conditions machine, S3Target server, String data) {
        return String.format(
                Locale.ROOT,
                "`bin/bench %s` on %s, %s. %s, %s. Mount options: %s.",
                command,
                server.name(),
                machine.describe(),
                data,
                rounds() == 1 ? "one round" : "medians of " + rounds() + " rounds",
                place.settings());
    }

    /** Prints the tables, and writes them and the chart as {@code NAME.md} and {@code NAME.svg}. */
    void publish(Path home, String name, String heading, String title, ReportTable report) throws IOException {
        publish(home, name, heading + "\n\n" + report.markdown(), title, report.bars());
    }

    /** @param text headings and tables */
    void publish(Path home, String name, String text, String title, List<ReportTable.Bar> bars) throws IOException {
        Path folder = place.results(home);
        Files.writeString(folder.resolve(name + ".svg"), Chart.svg(title, bars));
        place.publish(home, name, text);
        System.err.println("written: " + folder.resolve(name + ".svg"));
    }
}

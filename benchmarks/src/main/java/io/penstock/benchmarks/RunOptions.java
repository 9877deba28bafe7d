package io.penstock.benchmarks;

import io.penstock.objectstore.S3Config;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of every benchmark of a mount: how often, how it is mounted, and where things go. */
final class RunOptions {
    /** The space that a run leaves free on the disk. */
    private static final long SPARE = 4L << 30;

    @Option(names = "--quick", description = "A look in minutes: one round, less data. No figures to publish.")
    private boolean quick;

    @Option(names = "--rounds", paramLabel = "<n>", description = "Medians are taken of so many rounds. Default: 3.")
    private @Nullable Integer rounds;

    @Option(
            names = "-o",
            paramLabel = "<key=value,...>",
            description = "Settings of the mount, as for penstock mount -o.")
    private List<String> mountOptions = new ArrayList<>();

    @Option(
            names = "--http-client",
            paramLabel = "<client>",
            defaultValue = "direct",
            description = "For the mount and for the raw ceilings: direct, sdk. Default: direct.")
    private S3Config.HttpClient httpClient;

    @Option(
            names = "--scratch",
            paramLabel = "<folder>",
            defaultValue = "/var/tmp",
            description = "On the disk to measure; holds the cache, the bare files and the data of a server that is"
                    + " started. Default: ${DEFAULT-VALUE}.")
    private Path scratch;

    @Option(
            names = "--out",
            paramLabel = "<folder>",
            description = "For the tables and the chart. Default: benchmarks/target/bench.")
    private @Nullable Path out;

    boolean quick() {
        return quick;
    }

    int rounds() {
        return rounds != null ? rounds : quick ? 1 : 3;
    }

    S3Config.HttpClient httpClient() {
        return httpClient;
    }

    /** Options of {@code penstock mount}. */
    List<String> mountOptions() {
        String client = httpClient.name().toLowerCase(Locale.ROOT);
        List<String> options = new ArrayList<>(List.of("-o", "s3.http-client=" + client));
        mountOptions.forEach(list -> options.addAll(List.of("-o", list)));
        return options;
    }

    /** @param needed bytes that the run is going to write there */
    Scratch openScratch(long needed) throws IOException, BenchException {
        if (!Files.isDirectory(scratch) || !Files.isWritable(scratch)) {
            throw new BenchException("--scratch " + scratch + ": must be a folder that can be written to");
        }
        long usable = Files.getFileStore(scratch).getUsableSpace();
        if (usable < needed + SPARE) {
            throw new BenchException(String.format(
                    Locale.ROOT,
                    "%s has %d GiB free and %d are needed: choose another --scratch, or less data",
                    scratch,
                    usable >> 30,
                    (needed + SPARE) >> 30));
        }
        return new Scratch(scratch);
    }

    /** The circumstances that a reader of the figures has to know. */
    String heading(String command, Machine machine, S3Target server, String data) {
        return String.format(
                Locale.ROOT,
                "`bin/bench %s` on %s, %s. %s, %s. Mount options: %s.",
                command,
                server.name(),
                machine.describe(),
                data,
                rounds() == 1 ? "one round" : "medians of " + rounds() + " rounds",
                mountOptions.isEmpty() ? "none" : String.join(",", mountOptions));
    }

    /** Prints the tables, and writes them and the chart as {@code NAME.md} and {@code NAME.svg}. */
    void publish(Path home, String name, String heading, String title, Report report) throws IOException {
        publish(home, name, heading + "\n\n" + report.markdown(), title, report.bars());
    }

    /** @param text headings and tables */
    void publish(Path home, String name, String text, String title, List<Report.Bar> bars) throws IOException {
        Path folder = Files.createDirectories(out != null ? out : home.resolve("benchmarks/target/bench"));
        Files.writeString(folder.resolve(name + ".md"), text);
        Files.writeString(folder.resolve(name + ".svg"), Chart.svg(title, bars));
        System.out.println(text);
        System.err.println("written: " + folder.resolve(name + ".md") + " and .svg");
    }
}

package io.penstock.benchmarks;

import io.penstock.objectstore.s3.S3Config;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of every mount benchmark: how to mount, and where to put things. */
final class PlaceOptions {
    /** The disk space that a run leaves free. */
    private static final long SPARE = 4L << 30;

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

    S3Config.HttpClient httpClient() {
        return httpClient;
    }

    /** The user's mount options, for a report. */
    String settings() {
        return mountOptions.isEmpty() ? "none" : String.join(",", mountOptions);
    }

    /** Options of {@code penstock mount}. */
    List<String> mountOptions() {
        String client = httpClient.name().toLowerCase(Locale.ROOT);
        List<String> options = new ArrayList<>(List.of("-o", "s3.http-client=" + client));
        mountOptions.forEach(list -> options.addAll(List.of("-o", list)));
        return options;
    }

    /** @param needed bytes that the run will write there */
    Scratch openScratch(long needed) throws IOException, BenchException {
        if (!Files.isDirectory(scratch) || !Files.isWritable(scratch)) {
            throw new BenchException("--scratch " + scratch + ": must be a writable folder");
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

    /** The folder for the tables. */
    Path results() throws IOException {
        return Files.createDirectories(out != null ? out : BenchRun.home().resolve("benchmarks/target/bench"));
    }

    /** Prints headings and tables, and writes them to {@code NAME.md}. */
    void publish(String name, String text) throws IOException {
        Path file = results().resolve(name + ".md");
        Files.writeString(file, text);
        System.out.println(text);
        System.err.println("written: " + file);
    }
}

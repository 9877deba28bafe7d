package io.penstock.benchmarks;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The time from the command to the first {@code ls}, and its phases according to the mount's own log. */
final class FirstListing {
    /** The log line with the phases up to the first reply. */
    private static final Pattern READY = Pattern.compile("Ready after (\\d+ ms: .*)");

    private final Path penstock;
    private final String bucket;
    private final S3Target server;

    FirstListing(Path penstock, String bucket, S3Target server) {
        this.penstock = penstock;
        this.bucket = bucket;
        this.server = server;
    }

    /** @return lines of Markdown, the fastest first */
    String measure(Scratch scratch, Resources resources, int rounds) throws Exception {
        List<String> lines = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            lines.add(once(scratch, resources));
        }
        return "From the command to the first listing, each round:\n\n- " + String.join("\n- ", lines);
    }

    private String once(Scratch scratch, Resources resources) throws Exception {
        Path log = Files.createTempFile(scratch.root(), "first-", ".log");
        List<String> options = List.of("--log-level", "debug", "--cache=" + scratch.emptyFolder("first-cache"));
        long start = System.nanoTime();
        MountProcess mount =
                resources.add(MountProcess.start(penstock, bucket, scratch.folder("first"), server, options, log));
        mount.awaitReady();
        Programs.run(List.of("ls", mount.path().toString()));
        double millis = (System.nanoTime() - start) / 1e6;
        resources.close(mount);
        Matcher ready = READY.matcher(Files.readString(log, StandardCharsets.UTF_8));
        return String.format(
                Locale.ROOT, "%.0f ms in all; ready after %s", millis, ready.find() ? ready.group(1) : "?");
    }
}

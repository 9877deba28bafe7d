package io.penstock.benchmarks;

import io.penstock.fuse.MountException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A separate {@code penstock mount --foreground}. {@link #close} unmounts and ends it whatever its state, and may be
 * called more than once.
 */
final class MountProcess implements AutoCloseable {
    private final Process process;
    private final Path mountPoint;
    private final Path log;
    private final long startedAt;

    private MountProcess(Process process, Path mountPoint, Path log, long startedAt) {
        this.process = process;
        this.mountPoint = mountPoint;
        this.log = log;
        this.startedAt = startedAt;
    }

    /**
     * Starts it without waiting.
     *
     * @param source BUCKET/PREFIX
     * @param mountPoint an existing, empty folder
     * @param options of {@code penstock mount}
     * @param log receives its output
     */
    static MountProcess start(String source, Path mountPoint, S3Target server, List<String> options, Path log)
            throws IOException {
        long startedAt = System.nanoTime();
        Path settings = log.resolveSibling("penstock.yaml"); // instead of the settings of this machine's mounts
        Files.writeString(settings, "defaults: {}\n");
        List<String> command = new ArrayList<>(List.of(
                BenchRun.penstock().toString(),
                "mount",
                source,
                mountPoint.toString(),
                "--foreground",
                "--config",
                settings.toString()));
        command.addAll(server.mountOptions());
        command.addAll(options);
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        server.addKeysTo(builder.environment());
        return new MountProcess(builder.start(), mountPoint, log, startedAt);
    }

    /** The serving JVM: the launcher replaces itself with it. */
    long pid() {
        return process.pid();
    }

    /** Its output. */
    Path log() {
        return log;
    }

    /** By {@link System#nanoTime}. */
    long startedAt() {
        return startedAt;
    }

    Path path() {
        return mountPoint;
    }

    /** Returns once files can be read. */
    MountProcess awaitReady() throws IOException, InterruptedException, BenchException {
        if (!Mounts.await(process, mountPoint)) {
            throw new BenchException("penstock does not mount:\n" + Files.readString(log, StandardCharsets.UTF_8));
        }
        // The first reply arrives once the session is running.
        Files.readAttributes(mountPoint, "*");
        return this;
    }

    /** Ends the process as a crash does: the mount stays, and does not reply. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() throws IOException, MountException {
        Mounts.end(process, mountPoint);
    }
}

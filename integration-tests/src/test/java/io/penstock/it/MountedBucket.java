package io.penstock.it;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * A bucket mounted by a separate process, as by a user's command. {@link #close} unmounts and ends it, in any state
 * that a test left it in.
 */
final class MountedBucket implements AutoCloseable {
    /** The binding of all mounts, {@code kernel} or {@code jnr}: the build runs all tests once with each. */
    static final String BINDING = System.getProperty("penstock.test.binding", "auto");

    private static final Path PENSTOCK = Path.of("..", "bin", "penstock");

    private static final int READY_SECONDS = 90;
    private static final int LOGGED_SECONDS = 60;

    /** The same as service managers allow: the mount detaches, writes its cache, and uploads until it gives up. */
    private static final int END_SECONDS = 90;

    static {
        // Mounts start and read like users' mounts, and no test waits for the training.
        Program.run(Path.of("/"), List.of(line(PENSTOCK).getFirst(), "train"));
    }

    private final Path mountPoint;
    private final Path log;

    /** The beginning of this mount's log: an earlier mount's may be in the same file. */
    private final int logBegins;

    private final Process process;

    private MountedBucket(Path mountPoint, Path log, int logBegins, Process process) {
        this.mountPoint = mountPoint;
        this.log = log;
        this.logBegins = logBegins;
        this.process = process;
    }

    /**
     * Mounts {@code bucket} under {@code scratch}, which also has its cache folder. Returns when the mount serves
     * requests, including those of penstock's commands.
     *
     * @param options further options of {@code penstock mount}
     */
    static MountedBucket mount(S3Server server, String bucket, Path scratch, String... options) throws Exception {
        return mount(Launch.PLAIN, server, bucket, scratch, options);
    }

    /**
     * How the process is started.
     *
     * @param by the beginning of the command line: a program that becomes the one after it
     * @param environment further variables
     * @param penstock the program
     */
    record Launch(List<String> by, Map<String, String> environment, Path penstock) {
        static final Launch PLAIN = new Launch(List.of(), Map.of());

        /** With this build's program. */
        Launch(List<String> by, Map<String, String> environment) {
            this(by, environment, PENSTOCK);
        }
    }

    static MountedBucket mount(Launch launch, S3Server server, String bucket, Path scratch, String... options)
            throws Exception {
        MountedBucket mounted = start(launch, server, bucket, scratch, options);
        try {
            mounted.awaitReady();
        } catch (Throwable e) {
            mounted.close();
            throw e;
        }
        return mounted;
    }

    /** {@link #mount}, but returns as soon as the process has been started. */
    static MountedBucket start(S3Server server, String bucket, Path scratch, String... options) throws IOException {
        return start(Launch.PLAIN, server, bucket, scratch, options);
    }

    static MountedBucket start(Launch launch, S3Server server, String bucket, Path scratch, String... options)
            throws IOException {
        Path mountPoint = scratch.resolve("mnt");
        if (!isMounted(mountPoint)) { // the start removes a dead mount there
            Files.createDirectories(mountPoint);
        }
        Path log = scratch.resolve("mount.log");
        List<String> command = new ArrayList<>(launch.by());
        // As a shell starts programs in the foreground: in the background SIGINT is ignored, and under nohup SIGHUP.
        command.addAll(List.of("env", "--default-signal=HUP,INT,QUIT"));
        command.addAll(line(launch.penstock()));
        command.addAll(List.of("mount", bucket, mountPoint.toString(), "--foreground"));
        command.addAll(List.of("--endpoint", server.endpoint().toString(), "--region", "us-east-1", "--path-style"));
        if (Arrays.stream(options).noneMatch("--cache"::equals)) {
            command.addAll(List.of("--cache", scratch.resolve("cache").toString()));
        }
        if (Arrays.stream(options).noneMatch("--binding"::equals)) {
            command.addAll(List.of("--binding", BINDING));
        }
        command.addAll(List.of(options));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().put("AWS_ACCESS_KEY_ID", server.accessKey());
        builder.environment().putAll(launch.environment());
        builder.environment().put("AWS_SECRET_ACCESS_KEY", server.secretKey());
        int logBegins = Files.exists(log) ? (int) Files.size(log) : 0;
        return new MountedBucket(mountPoint, log, logBegins, builder.start());
    }

    /** This build's {@code penstock}, as a user calls it; it becomes the serving process. */
    static List<String> penstock() {
        return line(PENSTOCK);
    }

    private static List<String> line(Path program) {
        return List.of(program.toAbsolutePath().normalize().toString());
    }

    Path path() {
        return mountPoint;
    }

    Process process() {
        return process;
    }

    /** With the logs of earlier mounts under the same folder. */
    String log() throws IOException {
        return Files.readString(log, StandardCharsets.UTF_8);
    }

    private boolean hasLogged(String text) throws IOException {
        byte[] all = Files.readAllBytes(log);
        return new String(all, logBegins, all.length - logBegins, StandardCharsets.UTF_8).contains(text);
    }

    static boolean isMounted(Path path) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/mountinfo")).stream()
                .anyMatch(line -> line.contains(" " + path + " "));
    }

    private void awaitReady() throws Exception {
        long deadline = System.nanoTime() + SECONDS.toNanos(READY_SECONDS);
        // A dead mount may be at this path, which the start removes first: once a stat succeeds, the mount is a new
        // one. It serves a moment before it answers commands, and logs this after both.
        while (!hasLogged("is mounted on ")
                || !isMounted(mountPoint)
                || Program.shell(Path.of("/"), "stat -f \"$1\"", mountPoint).exit() != 0
                || !isMounted(mountPoint)) {
            if (!process.isAlive() || System.nanoTime() > deadline) {
                throw new AssertionError("not mounted; alive: " + process.isAlive() + "\n" + log());
            }
            Thread.sleep(20);
        }
    }

    /** Waits until the mount has logged the text, and fails if it does not within a minute. */
    void awaitLog(String text) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + SECONDS.toNanos(LOGGED_SECONDS);
        while (!hasLogged(text)) {
            assertThat(System.nanoTime()).as(log()).isLessThan(deadline);
            Thread.sleep(20);
        }
    }

    /** kill -9: the mount point is left dead, as after a crash, and then detached. */
    void kill() throws IOException {
        killAndLeave();
        Program.shell(Path.of("/"), "umount -l \"$1\" || fusermount3 -u -z \"$1\"", mountPoint)
                .orThrow();
    }

    /** kill -9: the mount point is left dead. */
    void killAndLeave() {
        process.destroyForcibly();
        assertThat(awaitEnd()).isTrue();
    }

    /** Sends SIGTERM, and waits for the end: the process must unmount without help. */
    void terminate() throws IOException {
        process.destroy();
        assertThat(awaitEnd()).as(log()).isTrue();
    }

    /** Whether the process ends within the allowed time. */
    boolean awaitEnd() {
        try {
            return process.waitFor(END_SECONDS, SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public void close() throws IOException {
        process.destroy();
        if (!awaitEnd()) {
            process.destroyForcibly();
            awaitEnd();
        }
        if (isMounted(mountPoint)) {
            Program.shell(Path.of("/"), "umount -l \"$1\" || fusermount3 -u -z \"$1\"", mountPoint);
        }
    }
}

package io.penstock.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.embeddeds3.OwnCertificate;
import io.penstock.fuse.KernelMount;
import io.penstock.fuse.MountException;
import io.penstock.serve.state.RunningMount;
import io.penstock.settings.Host;
import io.penstock.settings.process.Folders;
import io.penstock.settings.process.Reason;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * A mount in a separate process, started like a user's. Its JVM writes a cache when it ends: the classes loaded and
 * linked, and the profiles of its methods (JEP 483, 514, 515). For a single use by one thread.
 */
public final class TrainingRun {
    private static final String KEY = "train";
    private static final String SECRET = "train-secret";
    private static final String BUCKET = "train";
    private static final int SMALL_FILES = 200;
    private static final int SMALL_FILE = 4 << 10;
    private static final int LARGE_FILE = 64 << 20;

    /** Ranges of one page: few bytes cause as many GETs as the JIT needs to see. */
    private static final String RANGE_SIZE = "1MiB";

    /** The work of typical readers: list, read whole files, read again from the cache, read small blocks. */
    private static final String READS = """
        ls -lR . >/dev/null && find . -name '*.json' -exec cat {} + >/dev/null
        dd if=large of=/dev/null bs=1M status=none
        dd if=large iflag=nocache count=0 status=none
        dd if=large of=/dev/null bs=1M status=none
        dd if=large iflag=nocache count=0 status=none
        dd if=large of=/dev/null bs=4k iflag=direct count=5000 status=none
        """;

    /** The work of typical writers: copy a tree, write a large file, rename it, delete all. */
    private static final String WRITES = """
        cp -r folder-0 new && touch new/*
        dd if=/dev/zero of=new/large bs=1M count=64 conv=fsync status=none
        mv new/large new/renamed && ls -l new >/dev/null && rm -r new
        """;

    /** Suffix of the cache for commands that only query a mount; the mounts' cache has none. */
    private static final String COMMANDS = ".commands";

    /** The time for the mount's process to end, including writing the cache. */
    private static final long END_SECONDS = 300;

    private static final long UNMOUNT_SECONDS = 2;

    private final Path penstock;
    private final Path folder;
    private final EmbeddedS3 server;
    private final Path caFile;

    /** The launcher, then the mount that it started. Written by the recording thread. */
    private volatile @Nullable ProcessHandle process;

    private TrainingRun(Path penstock, Path folder, EmbeddedS3 server, Path caFile) {
        this.penstock = penstock;
        this.folder = folder;
        this.server = server;
        this.caFile = caFile;
    }

    /**
     * Records the cache of mounts into the file, and that of other commands next to it. Where nothing can be mounted,
     * such as during an image build, they contain what was used up to then.
     *
     * @param penstock the launcher
     * @throws RefusedException if it could not be recorded
     */
    public static void record(Path penstock, Path cache)
            throws IOException, RefusedException, MountException, InterruptedException {
        Path folder = DemoFolder.create("penstock-train-");
        OwnCertificate certificate = OwnCertificate.make(folder);
        try (EmbeddedS3 server =
                new EmbeddedS3(Files.createDirectory(folder.resolve("s3")), KEY, SECRET, certificate)) {
            TrainingRun run = new TrainingRun(penstock, folder, server, certificate.caFile());
            // Runs however this process ends, even by Ctrl-C.
            Runtime.getRuntime().addShutdownHook(new Thread(run::cleanUp));
            run.record(cache);
        }
    }

    private void cleanUp() {
        abandon();
        try {
            Folders.delete(folder);
        } catch (IOException e) {
            LoggerFactory.getLogger(TrainingRun.class).warn("could not delete {}: {}", folder, Reason.of(e));
        }
    }

    private void record(Path cache) throws IOException, RefusedException, MountException, InterruptedException {
        fillBucket();
        Path mountPoint = Files.createDirectory(folder.resolve("mnt")).toRealPath();
        Path commands = cache.resolveSibling(cache.getFileName() + COMMANDS);
        Outcome mounted = launch(cache, mountLine(mountPoint));
        if (mounted.exitCode() != 0) {
            launch(commands, List.of("train-commands", mountPoint.toString()));
            if (!Files.exists(cache)) {
                throw new RefusedException("the training run could not mount: " + mounted.said());
            }
            System.out.println("penstock: nothing can be mounted here, so only the start of a mount was recorded: "
                    + mounted.said());
            return;
        }
        ProcessHandle serving = serving(mountPoint);
        process = serving;
        try {
            DemoShell shell = new DemoShell(mountPoint, System.out);
            shell.quietly(READS);
            shell.quietly(WRITES);
            launch(commands, List.of("train-commands", mountPoint.toString()));
        } finally {
            process = serving;
            KernelMount.at(mountPoint).detach();
        }
        awaitEnd(serving, END_SECONDS);
        if (!Files.exists(cache)) {
            throw new RefusedException("the JVM of the training run wrote no cache");
        }
    }

    /** Ends the running processes. */
    private void abandon() {
        ProcessHandle running = process;
        if (running != null) {
            running.destroy(); // unmounts; a launcher also ends the process that it started
            try {
                awaitEnd(running, UNMOUNT_SECONDS);
            } catch (RefusedException _) {
                // It is killed by now. It had been unmounted, and only its JVM was still writing.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void fillBucket() {
        server.createBucket(BUCKET);
        for (int i = 0; i < SMALL_FILES; i++) {
            server.put(BUCKET, "folder-" + i % 4 + "/" + i + ".json", new byte[SMALL_FILE]);
        }
        server.put(BUCKET, "large", new byte[LARGE_FILE]);
    }

    private List<String> mountLine(Path mountPoint) throws IOException {
        Path configuration = Files.writeString(folder.resolve("penstock.yaml"), """
            defaults:
              s3.endpoint: %s
              s3.ca-file: %s
              cache.dir: %s
              log.file: %s
            """.formatted(
                        server.endpoint(), caFile, folder.resolve("cache"), folder.resolve("log")));
        return List.of(
                "mount",
                BUCKET,
                mountPoint.toString(),
                "--config",
                configuration.toString(),
                "--readahead-range-size",
                RANGE_SIZE,
                "--binding",
                "auto");
    }

    /** A launcher's exit code, and the first line that it printed. */
    private record Outcome(int exitCode, String said) {}

    /** Runs a command whose JVM records into the cache. */
    private Outcome launch(Path cache, List<String> command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(penstock.toString()).redirectErrorStream(true);
        builder.command().addAll(command);
        Map<String, String> environment = builder.environment();
        // The user's profile and proxy must not apply to the training run's own server.
        environment.keySet().removeIf(name -> name.startsWith("AWS_") || name.matches("(?i).*_proxy"));
        environment.putAll(Map.of(
                "AWS_ACCESS_KEY_ID",
                KEY,
                "AWS_SECRET_ACCESS_KEY",
                SECRET,
                "JAVA_HOME",
                System.getProperty("java.home"),
                "PENSTOCK_TRAINING",
                cache.toString()));
        Process launcher = builder.start();
        process = launcher.toHandle();
        String said = new String(launcher.getInputStream().readAllBytes(), UTF_8);
        // The lines after it are the JVM's, about writing the cache.
        return new Outcome(launcher.waitFor(), said.lines().findFirst().orElse(""));
    }

    private static ProcessHandle serving(Path mountPoint) throws IOException, RefusedException {
        return RunningMount.list(Host.current()).stream()
                .filter(running -> running.mountPoint().equals(mountPoint))
                .findFirst()
                .flatMap(running -> ProcessHandle.of(running.pid()))
                .orElseThrow(() -> new RefusedException("the training run's mount ended immediately"));
    }

    private static void awaitEnd(ProcessHandle process, long seconds) throws RefusedException, InterruptedException {
        try {
            process.onExit().get(seconds, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            process.destroyForcibly();
            throw new RefusedException("the training run's mount did not end within " + seconds + " s");
        }
    }
}

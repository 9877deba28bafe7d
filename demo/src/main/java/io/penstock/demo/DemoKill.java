package io.penstock.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.serve.state.RunningMount;
import io.penstock.settings.Host;
import io.penstock.settings.process.Launcher;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Kills the process of a mount while one program reads and another writes. The mount is a second one in the background,
 * with a supervisor. For a single use by one thread.
 */
final class DemoKill {
    private static final int LINES = 1000;

    /** By then both programs are at work. */
    private static final Duration BEFORE = Duration.ofMillis(700);

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final DemoShell shell;
    private final EmbeddedS3 server;
    private final Path caFile;
    private final Path folder;
    private final Path mountPoint;

    /** @param folder of the demo, which its caller removes */
    DemoKill(Path folder, DemoShell above, EmbeddedS3 server, Path caFile) throws IOException {
        this.folder = Files.createDirectory(folder.resolve("kill"));
        this.mountPoint = Files.createDirectory(this.folder.resolve("mnt"));
        this.shell = above.in(this.folder);
        this.server = server;
        this.caFile = caFile;
    }

    /** @return whether neither program noticed, or nothing could be shown here */
    boolean run() throws IOException, InterruptedException {
        shell.title("Kill the process of a mount while programs read and write");
        String mount = "mount " + DemoData.BUCKET + " mnt --endpoint " + server.endpoint() + " --s3-ca-file '" + caFile
                + "' --cache cache --log-file log";
        shell.command("penstock " + mount);
        Thread last = Thread.ofPlatform().unstarted(this::unmount);
        Runtime.getRuntime().addShutdownHook(last);
        try {
            shell.quietly("AWS_ACCESS_KEY_ID=" + DemoMount.KEY + " AWS_SECRET_ACCESS_KEY=" + DemoMount.SECRET
                    + " AWS_REGION=us-east-1 " + penstock() + " " + mount);
            RunningMount running = running(0);
            if (!running.description().contains("survives its process")) {
                shell.say("Mounts end with their process here: " + running.description());
                return true;
            }
            return kill(running);
        } finally {
            unmount();
            Runtime.getRuntime().removeShutdownHook(last);
        }
    }

    private static String penstock() {
        Path home = Launcher.home();
        return home == null ? "penstock" : "'" + home.resolve("bin/penstock") + "'";
    }

    /** The process that serves the mount and is not this one. */
    private RunningMount running(long former) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() - deadline < 0) {
            for (RunningMount mount : RunningMount.list(Host.current())) {
                if (mount.mountPoint().equals(mountPoint.toRealPath()) && mount.pid() != former && mount.isAlive()) {
                    return mount;
                }
            }
            Thread.sleep(10);
        }
        throw new IOException("no process serves " + mountPoint);
    }

    private boolean kill(RunningMount running) throws IOException, InterruptedException {
        String read = "sha256sum mnt/" + DemoData.SHARD;
        String write = "exec 3>mnt/lines; i=0; while [ $i -lt " + LINES
                + " ]; do echo line $i >&3; i=$((i+1)); sleep 0.002; done";
        shell.command(read + " &");
        shell.command(write + " &");
        try (ExecutorService programs = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<DemoShell.Result> reader = programs.submit(() -> shell.quietly(read));
            Future<DemoShell.Result> writer = programs.submit(() -> shell.quietly(write));
            Thread.sleep(BEFORE);
            shell.run("kill -KILL " + running.pid());
            RunningMount next = running(running.pid());
            String digest = reader.get().text().split(" ", 2)[0];
            writer.get();
            shell.say("Process " + next.pid() + " serves the mount now. " + next.description());
            return compare(digest);
        } catch (ExecutionException e) {
            shell.say("A program has noticed: " + e.getMessage());
            return false;
        }
    }

    private boolean compare(String digest) throws IOException {
        String right = DemoData.digest(DemoData.stream(DemoData.SHARD, DemoData.SHARD_SIZE));
        String lines =
                IntStream.range(0, LINES).mapToObj(i -> "line " + i + "\n").collect(Collectors.joining());
        byte[] stored;
        try (var object = server.get(DemoData.BUCKET, "lines")) {
            stored = object.readAllBytes();
        }
        boolean good = digest.equals(right) && new String(stored, UTF_8).equals(lines);
        shell.say(
                good
                        ? "Neither program noticed: all bytes read match, and all " + LINES
                                + " lines are in the bucket."
                        : "Bytes read, or lines written, DIFFER.");
        return good;
    }

    private void unmount() {
        try {
            shell.quietly(penstock() + " umount mnt >/dev/null 2>&1 || umount -l mnt 2>/dev/null || true");
        } catch (IOException e) {
            shell.say(mountPoint + " is not unmounted: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

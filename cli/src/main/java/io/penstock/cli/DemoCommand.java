package io.penstock.cli;

import io.penstock.cli.config.Configuration;
import io.penstock.cli.config.ConfigurationException;
import io.penstock.cli.config.ConfigurationFile;
import io.penstock.cli.config.Host;
import io.penstock.cli.config.SettingSource;
import io.penstock.cli.config.Settings;
import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.fuse.MountException;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.S3Config.Credentials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "demo",
        description = {
            "Shows Penstock at work, on a bucket of its own: needs no account and no configuration.",
            "",
            "Starts an S3 server in this process, fills a bucket, mounts it, reads and writes it with ordinary"
                    + " programs, and compares what they read and wrote with what is stored. Takes some 1.8 GiB below"
                    + " $TMPDIR or /tmp, and removes them."
        })
final class DemoCommand implements Callable<Integer> {
    private static final String KEY = "demo";
    private static final String SECRET = "demo-secret";
    private static final long SPACE = 1800L << 20;

    @Option(names = "--keep", description = "Leave the mount up, and tell how to look around and how to end it.")
    private boolean keep;

    @Override
    public Integer call()
            throws IOException, RefusedException, ConfigurationException, MountException, ObjectStoreException,
                    InterruptedException {
        Path folder = Files.createTempDirectory("penstock-demo-");
        try (StopSignal stop = new StopSignal()) {
            if (folder.toFile().getUsableSpace() < SPACE) {
                throw new RefusedException("the demo needs " + (SPACE >> 20) + " MiB in " + folder.getParent()
                        + ", and there is less; name another folder with TMPDIR=…");
            }
            return run(folder, stop);
        } finally {
            Folders.delete(folder);
        }
    }

    private int run(Path folder, StopSignal stop)
            throws IOException, RefusedException, ConfigurationException, MountException, ObjectStoreException,
                    InterruptedException {
        Path store = Files.createDirectory(folder.resolve("s3"));
        Path mountPoint = Files.createDirectory(folder.resolve("mnt"));
        DemoShell shell = new DemoShell(mountPoint, System.out);
        shell.title("A bucket");
        try (EmbeddedS3 server = new EmbeddedS3(store, KEY, SECRET)) {
            shell.say("An S3 server listens on " + server.endpoint() + ", in this process. Filling its bucket \""
                    + DemoData.BUCKET + "\" ...");
            DemoData data = DemoData.store(server);
            shell.say(DemoData.SAMPLES + " small samples in " + DemoData.CLASSES + " folders, a shard of "
                    + (DemoData.SHARD_SIZE >> 20) + " MiB and a model of " + (DemoData.MODEL_SIZE >> 20) + " MiB.");
            MountPlan plan = plan(server.endpoint().toString(), mountPoint, folder.resolve("cache"));
            shell.title("Mounted as a folder");
            shell.command("penstock mount " + DemoData.BUCKET + " " + mountPoint + " --endpoint " + server.endpoint()
                    + " --cache " + plan.cache().directory());
            StartTimes times = new StartTimes();
            times.done("before");
            try (MountedBucket bucket = MountedBucket.open(plan, times)) {
                stop.unmounts(bucket.mount(), () -> {}, () -> {});
                shell.say(bucket.mount().description());
                boolean good = new Demo(shell, data, bucket, server).run();
                if (good && keep) {
                    keepUntilUnmounted(shell, server.endpoint().toString(), plan, bucket);
                }
                return good ? ExitCode.DONE : ExitCode.FAILED;
            }
        }
    }

    private static MountPlan plan(String endpoint, Path mountPoint, Path cache)
            throws ConfigurationException, RefusedException {
        SettingSource options = SettingSource.ofOptions(
                Map.of(
                        Settings.ENDPOINT,
                        endpoint,
                        Settings.REGION,
                        "us-east-1",
                        Settings.CACHE_DIR,
                        cache.toString(),
                        Settings.ALLOW_OTHER,
                        "false"),
                Map.of());
        Configuration configuration =
                Configuration.of(Host.current(), DemoData.BUCKET, options, SettingSource.EMPTY, ConfigurationFile.NONE);
        return MountPlan.of(
                Target.parse(DemoData.BUCKET), mountPoint, configuration, new Credentials.Static(KEY, SECRET));
    }

    private static void keepUntilUnmounted(DemoShell shell, String endpoint, MountPlan plan, MountedBucket bucket)
            throws IOException, InterruptedException {
        Path mountPoint = bucket.mount().mountPoint();
        RunningMount running = new RunningMount(
                plan.target().source(),
                mountPoint,
                ProcessHandle.current().pid(),
                bucket.binding(),
                bucket.mount().description(),
                plan.cache().directory(),
                Path.of("/dev/null"),
                Instant.now());
        running.save(Host.current());
        shell.title("It stays up");
        shell.say("Look around, with any program:");
        shell.command("ls -l " + mountPoint);
        shell.command(Launcher.command() + " mounts");
        shell.say("Or mount the same bucket yourself:");
        shell.command("mkdir -p /tmp/mine; AWS_ACCESS_KEY_ID=" + KEY + " AWS_SECRET_ACCESS_KEY=" + SECRET + " "
                + Launcher.command() + " mount " + DemoData.BUCKET + " /tmp/mine --endpoint " + endpoint);
        shell.say("And stop it, which removes everything:");
        shell.command(Launcher.command() + " umount " + mountPoint);
        try {
            if (Launcher.waits()) {
                Launcher.ready();
            }
            bucket.mount().awaitUnmounted();
        } finally {
            running.delete(Host.current());
        }
    }
}

package io.penstock.demo;

import io.penstock.fuse.MountException;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.s3.S3Config.Credentials;
import io.penstock.serve.log.Logging;
import io.penstock.serve.mount.BucketMount;
import io.penstock.serve.mount.MountControl;
import io.penstock.serve.mount.MountPlan;
import io.penstock.serve.mount.StopSignal;
import io.penstock.serve.mount.Target;
import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.ConfigurationFile;
import io.penstock.settings.Host;
import io.penstock.settings.Setting;
import io.penstock.settings.SettingSource;
import io.penstock.settings.Settings;
import io.penstock.settings.process.Launcher;
import io.penstock.settings.process.RefusedException;
import io.penstock.settings.process.StartTimes;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** Mounts a demo's bucket, and unmounts it after the demonstration. For a single use by one thread. */
public final class DemoMount {
    static final String KEY = "demo";
    static final String SECRET = "demo-secret";

    private final Path folder;
    private final StopSignal stop;
    private final boolean keep;
    private final DemoShell shell;

    /**
     * @param folder an empty folder, which the caller removes
     * @param keep whether the mount stays until the user ends it
     */
    public DemoMount(Path folder, StopSignal stop, boolean keep) throws IOException {
        this.folder = folder;
        this.stop = stop;
        this.keep = keep;
        this.shell = new DemoShell(Files.createDirectory(folder.resolve("mnt")), System.out);
    }

    /** The demonstration of a mounted bucket. */
    @FunctionalInterface
    interface Show {
        /** @return whether all checks passed */
        boolean run(BucketMount bucket) throws IOException, RefusedException, InterruptedException;
    }

    /** A folder for the demo's files, which exists until the demo ends. */
    Path folder() {
        return folder;
    }

    /** Whether the mount stays until the user ends it. */
    boolean isKept() {
        return keep;
    }

    /** Runs programs in the mount. */
    DemoShell shell() {
        return shell;
    }

    /**
     * Mounts the bucket, runs the demonstration, and unmounts.
     *
     * @param settings additional settings
     * @param hurry ends pending work on a signal, before the unmount
     * @return whether all checks passed
     */
    boolean show(String bucket, URI endpoint, Map<Setting<?>, String> settings, Runnable hurry, Show show)
            throws IOException, RefusedException, ConfigurationException, MountException, ObjectStoreException,
                    InterruptedException {
        Logging.toleratesServer();
        Configuration configuration = configuration(bucket, endpoint, folder.resolve("cache"), settings);
        MountPlan plan = MountPlan.of(
                Target.parse(bucket), folder.resolve("mnt"), configuration, new Credentials.Static(KEY, SECRET));
        shell.title("Mounted as a folder");
        StringBuilder command = new StringBuilder(
                "penstock mount " + bucket + " " + plan.mount().mountPoint() + " --endpoint " + endpoint + " --cache "
                        + plan.cache().directory());
        settings.forEach((setting, value) -> command.append(' ')
                .append(setting.optionName())
                .append(setting.type().isFlag() ? "" : " " + value));
        shell.command(command.toString());
        try (BucketMount mounted = BucketMount.open(plan, new StartTimes(), null, null, null);
                MountControl _ = new MountControl(
                        plan,
                        mounted,
                        mounted.mount().mountPoint(),
                        Path.of("/dev/null"),
                        configuration,
                        () -> configuration)) {
            stop.unmounts(mounted.mount(), hurry, () -> {});
            shell.say(mounted.mount().description());
            boolean good = show.run(mounted);
            if (good && keep) {
                keepUntilUnmounted(plan, mounted);
            }
            return good;
        }
    }

    /** Only the given settings, and none of this machine. */
    static Configuration configuration(String bucket, URI endpoint, Path cache, Map<Setting<?>, String> further)
            throws ConfigurationException {
        Map<Setting<?>, String> settings = new HashMap<>(Map.of(
                Settings.ENDPOINT,
                endpoint.toString(),
                Settings.REGION,
                "us-east-1",
                Settings.CACHE_DIR,
                cache.toString(),
                Settings.ALLOW_OTHER,
                "false"));
        settings.putAll(further);
        return Configuration.of(
                Host.current(),
                bucket,
                SettingSource.ofOptions(settings, Map.of()),
                SettingSource.EMPTY,
                ConfigurationFile.NONE);
    }

    private void keepUntilUnmounted(MountPlan plan, BucketMount bucket) throws InterruptedException {
        Path mountPoint = bucket.mount().mountPoint();
        shell.title("The mount stays up");
        shell.say("Look around, with any program:");
        shell.command("ls -l " + mountPoint);
        shell.command(Launcher.command() + " mounts");
        shell.say("Or mount the same bucket yourself:");
        shell.command("mkdir -p /tmp/mine; AWS_ACCESS_KEY_ID=" + KEY + " AWS_SECRET_ACCESS_KEY=" + SECRET + " "
                + Launcher.command() + " mount " + plan.target().source() + " /tmp/mine --endpoint "
                + plan.s3().server().endpoint()
                + (plan.s3().server().caFile() == null
                        ? ""
                        : " --s3-ca-file " + plan.s3().server().caFile()));
        shell.say("To stop it and remove everything:");
        shell.command(Launcher.command() + " umount " + mountPoint);
        if (Launcher.waits()) {
            Launcher.ready();
        }
        bucket.mount().awaitUnmounted();
    }
}

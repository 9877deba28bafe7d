package io.penstock.tools.doctor;

import io.penstock.disk.ExposedFolder;
import io.penstock.fuse.MountTable;
import io.penstock.fuse.Preflight;
import io.penstock.serve.mount.MountPlan;
import io.penstock.serve.mount.Target;
import io.penstock.serve.state.RunningMount;
import io.penstock.settings.Configuration;
import io.penstock.settings.Host;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import io.penstock.settings.process.Folders;
import io.penstock.tools.doctor.Disk.Depth;
import io.penstock.tools.doctor.Examiner.Check;
import io.penstock.tools.doctor.Rights.Right;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Examines a machine, a bucket or a mount with the settings of a mount, and reports each finding immediately. It
 * changes nothing, and leaves nothing on disks. Confined to one thread.
 */
public final class Doctor {
    /** The deadline of examinations that only read a few small files. */
    private static final Duration AT_ONCE = Duration.ofSeconds(10);

    /** The deadline of examinations of a disk or a server; requests to a server have their own timeouts. */
    private static final Duration SOON = Duration.ofSeconds(30);

    /** The deadline of measurements, and of trials that send bodies. */
    private static final Duration LATER = Duration.ofSeconds(60);

    private final Host host;
    private final Configuration configuration;
    private final Scope scope;
    private final Examiner examiner;

    /** Null if it was not examined. */
    private Disk.@Nullable Facts cacheDisk;

    /**
     * How far to go.
     *
     * @param measures whether disks and the network are measured
     * @param writes whether temporary objects may be written to the bucket
     */
    public record Scope(boolean measures, boolean writes) {}

    public Doctor(Host host, Configuration configuration, Scope scope, Consumer<Finding> report) {
        this.host = host;
        this.configuration = configuration;
        this.scope = scope;
        this.examiner = new Examiner(report);
    }

    /**
     * Examines what matters to every mount on this machine.
     *
     * @param busy the cache folders of running mounts; nothing is written to their disks
     */
    public void machine(Set<Path> busy) throws InterruptedException {
        Fuse fuse = new Fuse(configuration);
        ProcessLimits limits = new ProcessLimits(configuration);
        examiner.examine(
                AT_ONCE,
                () -> Machine.read(host, ProcessHandle.current().pid()),
                new Check<>("fuse", fuse::device),
                new Check<>("kernel", fuse::kernel),
                new Check<>("limits", limits::files),
                new Check<>("memory", limits::memory),
                new Check<>("start", Machine::start));
        examiner.examine(SOON, Doctor::mounts, new Check<>("mounts", MountHealth::all));
        settingsAndDisks(busy.contains(configuration.get(Settings.CACHE_DIR)) ? Depth.LOOK : depth());
        parents(ProcessHandle.current().pid());
    }

    private static MountHealth.All mounts() throws IOException {
        List<Path> all = RunningMount.mountPoints(MountTable.read().entries());
        return new MountHealth.All(all, all.stream().filter(Preflight::isDead).toList());
    }

    private Depth depth() {
        return scope.measures() ? Depth.MEASURE : Depth.TRY;
    }

    private void settingsAndDisks(Depth depth) throws InterruptedException {
        examiner.examine(AT_ONCE, () -> configuration, new Check<>("settings", SettingConflicts::check));
        cacheDisk = examiner.examine(
                LATER,
                () -> Disk.read(configuration.get(Settings.CACHE_DIR), depth),
                new Check<>("cache", Disk.ofCache(configuration)::check));
        Disk.Facts cache = cacheDisk;
        if (!configuration.get(Settings.READ_ONLY)) {
            Path folder = configuration.get(WriteSettings.STAGING);
            Disk.Facts staging = examiner.examine(
                    LATER,
                    () -> Disk.read(folder, isMeasured(cache, folder) ? Depth.TRY : depth),
                    new Check<>("staging", Disk.ofStaging(configuration)::check));
            if (cache != null && staging != null) {
                examiner.examine(
                        AT_ONCE,
                        () -> new MountFolders.Facts(cache, staging),
                        new Check<>("folders", new MountFolders(configuration)::both));
            }
        }
        Path log = Objects.requireNonNull(configuration.get(Settings.LOG_FILE).getParent());
        examiner.examine(AT_ONCE, () -> Disk.read(log, Depth.LOOK), new Check<>("log", MountFolders::log));
    }

    /** @param process the one that serves the mount, or this one; the folders should belong to its user */
    private void parents(long process) throws InterruptedException {
        examiner.examine(
                AT_ONCE,
                () -> ExposedFolder.above(MountPlan.folders(configuration), (int)
                        Files.getAttribute(Path.of("/proc", Long.toString(process)), "unix:uid")),
                new Check<>("parents", MountFolders::parents));
    }

    /** Whether the folder is on a disk that was already measured. */
    private static boolean isMeasured(Disk.@Nullable Facts disk, Path folder) throws IOException {
        return disk != null
                && disk.trial() != null
                && disk.trial().speed() != null
                && disk.device() == Folders.device(folder);
    }

    /** Examines what matters to mounts of this bucket, in addition to {@link #machine}. */
    public void bucket(Target target) throws InterruptedException {
        MountPlan plan = MountPlan.of(target, Path.of("/"), configuration);
        try (Store store = new Store(target, plan.s3())) {
            if (opens(store, target, Access.Stage.BEFORE)) {
                opened(store, target);
            }
        }
    }

    private boolean opens(Store store, Target target, Access.Stage stage) throws InterruptedException {
        Access access = new Access(configuration, target, stage);
        Access.Server server = examiner.examine(SOON, store::server, new Check<>("server", access::server));
        if (server == null || server.unreachable() != null) {
            return false;
        }
        Access.Key credentials =
                examiner.examine(SOON, store::credentials, new Check<>("credentials", access::credentials));
        if (credentials instanceof Access.Key.Missing) {
            return false;
        }
        Access.Bucket bucket = examiner.examine(SOON, store::open, new Check<>("bucket", access::bucket));
        return bucket != null && bucket.failure() == null;
    }

    private boolean tryWrites() {
        return scope.writes() && !configuration.get(Settings.READ_ONLY);
    }

    private Rights.@Nullable Facts rights(Store store, Target target) throws InterruptedException {
        Rights rights = new Rights(target, configuration.get(Settings.READ_ONLY));
        return examiner.examine(SOON, () -> store.rights(tryWrites()), new Check<>("rights", rights::check));
    }

    private void opened(Store store, Target target) throws InterruptedException {
        Rights.Facts rights = rights(store, target);
        boolean mayWrite = tryWrites()
                && rights != null
                && !rights.denied().containsKey(Right.WRITE)
                && !rights.denied().containsKey(Right.DELETE);
        Quirks quirks = new Quirks(configuration.get(WriteSettings.PARTS).equals("equal"));
        examiner.examine(LATER, () -> store.quirks(mayWrite), new Check<>("server's ways", quirks::check));
        if (scope.measures()) {
            examiner.examine(
                    LATER,
                    () -> store.network(configuration.get(Settings.RANGE_SIZE)),
                    new Check<>("network", new Network(configuration, cacheDisk)::check));
        }
    }

    /**
     * Examines a mount with its settings. Nothing is measured, because the mount needs its disks and its network.
     * Credentials and rights are those that this process finds.
     *
     * @param process the one that serves the mount
     * @param facts the mount's state
     */
    public void mount(long process, Target target, Callable<MountHealth.Facts> facts) throws InterruptedException {
        MountHealth.Facts mount =
                examiner.examine(SOON, facts, new Check<>("mount", new MountHealth(configuration)::one));
        if (mount == null || !mount.alive()) {
            return;
        }
        ProcessLimits limits = new ProcessLimits(configuration);
        examiner.examine(
                AT_ONCE,
                () -> Machine.read(host, process),
                new Check<>("kernel", new Fuse(configuration)::kernel),
                new Check<>("limits", limits::files),
                new Check<>("memory", limits::memory));
        settingsAndDisks(Depth.LOOK);
        parents(process);
        try (Store store = new Store(
                target, MountPlan.of(target, Path.of("/"), configuration).s3())) {
            if (opens(store, target, Access.Stage.MOUNTED)) {
                rights(store, target);
            }
        }
    }
}

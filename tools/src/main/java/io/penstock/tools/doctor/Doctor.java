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
import io.penstock.tools.doctor.Disks.Depth;
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
    private Disks.@Nullable Facts cacheDisk;

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
        examiner.examine(
                AT_ONCE,
                () -> Machine.read(host, ProcessHandle.current().pid()),
                new FuseCheck(configuration),
                new KernelCheck(configuration),
                new LimitsCheck(configuration),
                new MemoryCheck(configuration),
                new StartCheck());
        examiner.examine(SOON, Doctor::mounts, new MountsCheck());
        settingsAndDisks(busy.contains(configuration.get(Settings.CACHE_DIR)) ? Depth.LOOK : depth());
        parents(ProcessHandle.current().pid());
    }

    private static MountsCheck.Mounts mounts() throws IOException {
        List<Path> all = RunningMount.mountPoints(MountTable.read().entries());
        return new MountsCheck.Mounts(
                all, all.stream().filter(Preflight::isDead).toList());
    }

    private Depth depth() {
        return scope.measures() ? Depth.MEASURE : Depth.TRY;
    }

    private void settingsAndDisks(Depth depth) throws InterruptedException {
        examiner.examine(AT_ONCE, () -> configuration, new SettingsCheck());
        cacheDisk = examiner.examine(
                LATER,
                () -> Disks.read(configuration.get(Settings.CACHE_DIR), depth),
                DiskCheck.ofCache(configuration));
        Disks.Facts cache = cacheDisk;
        if (!configuration.get(Settings.READ_ONLY)) {
            Path folder = configuration.get(WriteSettings.STAGING);
            Disks.Facts staging = examiner.examine(
                    LATER,
                    () -> Disks.read(folder, isMeasured(cache, folder) ? Depth.TRY : depth),
                    DiskCheck.ofStaging(configuration));
            if (cache != null && staging != null) {
                examiner.examine(
                        AT_ONCE, () -> new FoldersCheck.Facts(cache, staging), new FoldersCheck(configuration));
            }
        }
        Path log = Objects.requireNonNull(configuration.get(Settings.LOG_FILE).getParent());
        examiner.examine(AT_ONCE, () -> Disks.read(log, Depth.LOOK), new LogCheck());
    }

    /** @param process the one that serves the mount, or this one; the folders should belong to its user */
    private void parents(long process) throws InterruptedException {
        examiner.examine(
                AT_ONCE,
                () -> ExposedFolder.above(MountPlan.folders(configuration), (int)
                        Files.getAttribute(Path.of("/proc", Long.toString(process)), "unix:uid")),
                new ParentsCheck());
    }

    /** Whether the folder is on a disk that was already measured. */
    private static boolean isMeasured(Disks.@Nullable Facts disk, Path folder) throws IOException {
        return disk != null
                && disk.trial() != null
                && disk.trial().speed() != null
                && disk.device() == Folders.device(folder);
    }

    /** Examines what matters to mounts of this bucket, in addition to {@link #machine}. */
    public void bucket(Target target) throws InterruptedException {
        MountPlan plan = MountPlan.of(target, Path.of("/"), configuration);
        try (Store store = new Store(target, plan.s3())) {
            if (opens(store, target, Phase.BEFORE)) {
                opened(store, target);
            }
        }
    }

    private boolean opens(Store store, Target target, Phase phase) throws InterruptedException {
        ServerCheck.Facts server = examiner.examine(SOON, store::server, new ServerCheck(configuration));
        if (server == null || server.unreachable() != null) {
            return false;
        }
        CredentialsCheck.Facts credentials =
                examiner.examine(SOON, store::credentials, new CredentialsCheck(configuration, phase));
        if (credentials instanceof CredentialsCheck.Facts.Missing) {
            return false;
        }
        BucketCheck.Facts bucket = examiner.examine(SOON, store::open, new BucketCheck(target, phase));
        return bucket != null && bucket.failure() == null;
    }

    private boolean tryWrites() {
        return scope.writes() && !configuration.get(Settings.READ_ONLY);
    }

    private RightsCheck.@Nullable Facts rights(Store store, Target target) throws InterruptedException {
        return examiner.examine(
                SOON, () -> store.rights(tryWrites()), new RightsCheck(target, configuration.get(Settings.READ_ONLY)));
    }

    private void opened(Store store, Target target) throws InterruptedException {
        RightsCheck.Facts rights = rights(store, target);
        boolean mayWrite = tryWrites()
                && rights != null
                && !rights.denied().containsKey(Right.WRITE)
                && !rights.denied().containsKey(Right.DELETE);
        examiner.examine(
                LATER,
                () -> store.quirks(mayWrite),
                new QuirksCheck(configuration.get(WriteSettings.PARTS).equals("equal")));
        if (scope.measures()) {
            examiner.examine(
                    LATER,
                    () -> store.network(configuration.get(Settings.RANGE_SIZE)),
                    new NetworkCheck(configuration, cacheDisk));
        }
    }

    /**
     * Examines a mount with its settings. Nothing is measured, because the mount needs its disks and its network.
     * Credentials and rights are those that this process finds.
     *
     * @param process the one that serves the mount
     * @param facts the mount's state
     */
    public void mount(long process, Target target, Callable<MountFacts> facts) throws InterruptedException {
        MountFacts mount = examiner.examine(SOON, facts, new MountCheck(configuration));
        if (mount == null || !mount.alive()) {
            return;
        }
        examiner.examine(
                AT_ONCE,
                () -> Machine.read(host, process),
                new KernelCheck(configuration),
                new LimitsCheck(configuration),
                new MemoryCheck(configuration));
        settingsAndDisks(Depth.LOOK);
        parents(process);
        try (Store store = new Store(
                target, MountPlan.of(target, Path.of("/"), configuration).s3())) {
            if (opens(store, target, Phase.MOUNTED)) {
                rights(store, target);
            }
        }
    }
}

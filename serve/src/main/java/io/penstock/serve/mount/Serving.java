package io.penstock.serve.mount;

import io.penstock.cache.CacheStatistics;
import io.penstock.core.NoSpace;
import io.penstock.core.Printable;
import io.penstock.disk.ExposedFolder;
import io.penstock.fuse.InheritedDevice;
import io.penstock.fuse.Mount;
import io.penstock.fuse.MountException;
import io.penstock.fuse.Supervisor;
import io.penstock.inventory.IndexException;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.s3.S3ObjectStore;
import io.penstock.serve.log.AccessLog;
import io.penstock.serve.log.Logging;
import io.penstock.serve.metrics.Metrics;
import io.penstock.serve.state.RunningMount;
import io.penstock.serve.state.StateFile;
import io.penstock.settings.ByteSizes;
import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.Host;
import io.penstock.settings.LogLevel;
import io.penstock.settings.Origin;
import io.penstock.settings.Setting;
import io.penstock.settings.Settings;
import io.penstock.settings.ShareSettings;
import io.penstock.settings.WriteSettings;
import io.penstock.settings.process.Launcher;
import io.penstock.settings.process.Reason;
import io.penstock.settings.process.RefusedException;
import io.penstock.settings.process.StartTimes;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The life of a serving process.
 *
 * <pre>
 *   checks ──▶ mounted: notifies the launcher, serves ──▶ unmounted ──▶ backlog uploaded, process ends
 *      │                                         │ SIGTERM, Ctrl-C: unmounts, detaches if busy; hurries
 *      └─ refused: nothing is left
 * </pre>
 *
 * It never accesses its own mount: a thread that waits there inside the kernel could not even be killed once the
 * threads that serve it are gone.
 */
public final class Serving {
    private static final Logger log = LoggerFactory.getLogger(Serving.class);

    private static final List<Setting<?>> SERVER = List.of(
            Settings.ENDPOINT,
            Settings.REGION,
            Settings.PATH_STYLE,
            Settings.PROXY,
            Settings.CA_FILE,
            Settings.TLS,
            Settings.PROFILE,
            Settings.ANONYMOUS);

    private final Configuration configuration;
    private final LiveConfiguration.Source source;
    private final MountPlan plan;

    /** As the user names it; the plan names the device of a mount that this process continues. */
    private final Path mountPoint;

    private final Path logFile;
    private final boolean verbose;
    private final Supervisor supervisor = Supervisor.current();
    private final StartTimes times = new StartTimes();

    /** Of a process that was a standby. */
    private @Nullable S3ObjectStore connected;

    /**
     * @param source reads the settings, and reads them again for a reload
     * @param verbose whether to tell the user that it is mounted
     * @throws ConfigurationException with every problem of the settings
     */
    public Serving(Target target, Path mountPoint, LiveConfiguration.Source source, boolean verbose)
            throws ConfigurationException {
        this.verbose = verbose;
        this.source = source;
        this.configuration = source.read();
        this.mountPoint = mountPoint;
        Path at = supervisor.inheritedDevice().or(supervisor::mountedDevice).orElse(mountPoint);
        this.plan = MountPlan.of(target, at, configuration);
        this.logFile = logFile(configuration.get(Settings.LOG_FILE), mountPoint);
        times.done("JVM and configuration");
    }

    /** Mounts, reports that, and serves until unmounted. */
    public void run() throws MountException, RefusedException, ConfigurationException, InterruptedException {
        try {
            if (supervisor.isStandby()) {
                Standby standby = new Standby(plan, supervisor);
                if (!standby.awaitDeath()) {
                    return;
                } else if (standby.isOutdated(configuration, source)) {
                    new Serving(plan.target(), mountPoint, source, verbose).run();
                    return;
                }
                connected = standby.store();
            }
            mountAndServe();
        } catch (MountException | RefusedException e) {
            if (supervisor.inheritedDevice().isPresent() && !supervisor.isStandby()) {
                log.error("{}", e.getMessage()); // nobody reads what a successor prints
            }
            Logging.removeIfEmpty();
            if (e instanceof MountException) {
                supervisor.stopping(); // a successor would be refused too
            }
            throw e;
        }
    }

    private void mountAndServe() throws MountException, RefusedException, InterruptedException {
        checkOutside(Settings.CACHE_DIR);
        checkOutside(Settings.LOG_FILE);
        checkOutside(WriteSettings.STAGING);
        checkSharing();
        startLog();
        Thread.setDefaultUncaughtExceptionHandler(
                (thread, e) -> log.error("Thread {} died: internal error; please report it", thread.getName(), e));
        HeapWatch.start();
        supervisor.watch();
        EarlierProcesses.forget(supervisor, mountPoint);
        // Closed in reverse order: a process that must exit waits until the bucket is closed.
        try (StopSignal stop = new StopSignal();
                Metrics metrics = Metrics.open(configuration);
                AccessLog access = openAccessLog();
                BucketMount bucket = open(access)) {
            UploadsAtExit backlog = bucket.backlog();
            if (backlog == null) {
                stop.unmounts(bucket.mount(), () -> {}, () -> {});
            } else {
                stop.unmounts(bucket.mount(), backlog::hurry, backlog::leave);
            }
            serve(bucket, metrics);
        }
    }

    /** Two mounts of one bucket must not rotate each other's log. */
    static Path logFile(Path setting, Path mountPoint) {
        String dashed = mountPoint.toString().substring(1).replace('/', '-');
        return Path.of(setting.toString().replace("{mount}", dashed.isEmpty() ? "root" : dashed));
    }

    /** One mount would rotate the file away while the other writes to it. */
    private void checkLog(Setting<Path> setting, Path file) throws RefusedException {
        List<RunningMount> others;
        try {
            others = RunningMount.list(Host.current());
        } catch (IOException e) {
            return; // No other mount is known.
        }
        for (RunningMount other : others) {
            if (other.writesTo(file) && !other.mountPoint().equals(mountPoint) && other.isAlive()) {
                throw refused(
                        setting + ": " + file + " is already the log of the mount on " + other.mountPoint()
                                + "; choose another file with " + setting.optionName()
                                + ", or use {mount} in its name",
                        List.of(setting));
            }
        }
    }

    private void startLog() throws RefusedException {
        LogLevel level = configuration.get(Settings.LOG_LEVEL, LogLevel.class);
        if (!Launcher.waits()) {
            Logging.toTerminal(level);
            return;
        }
        checkLog(Settings.LOG_FILE, logFile);
        try {
            Logging.toFile(logFile, level);
        } catch (IOException e) {
            if (configuration.origin(Settings.LOG_FILE) instanceof Origin.Default) {
                // A service user without a home folder can still mount.
                log.warn(
                        "Logging is off: cannot write {} ({}); choose another file with --log-file",
                        logFile,
                        Reason.of(e));
                return;
            }
            throw refused(
                    "log.file: cannot write " + logFile + " (" + Reason.of(e)
                            + "); choose another file with --log-file",
                    List.of(Settings.LOG_FILE));
        }
    }

    /** Null if there is none. */
    private @Nullable AccessLog openAccessLog() throws MountException, RefusedException {
        Path setting = configuration.find(Settings.ACCESS_LOG).orElse(null);
        if (setting == null) {
            return null;
        }
        checkOutside(Settings.ACCESS_LOG, setting);
        Path file = logFile(setting, mountPoint);
        checkLog(Settings.ACCESS_LOG, file);
        if (Launcher.waits() && file.equals(logFile)) {
            throw refused(
                    Settings.ACCESS_LOG + ": " + file + " is already this mount's log.file; choose another file with "
                            + Settings.ACCESS_LOG.optionName(),
                    List.of(Settings.ACCESS_LOG, Settings.LOG_FILE));
        }
        try {
            return AccessLog.open(file);
        } catch (IOException e) {
            throw refused(
                    Settings.ACCESS_LOG + ": cannot write " + file + " (" + Reason.of(e)
                            + "); choose another file with " + Settings.ACCESS_LOG.optionName(),
                    List.of(Settings.ACCESS_LOG));
        }
    }

    private BucketMount open(@Nullable AccessLog access) throws MountException, RefusedException, InterruptedException {
        try {
            return BucketMount.open(plan, times, access, RunningMount.tables(Host.current()), connected);
        } catch (ObjectStoreException e) {
            // Names the certificates' file only if certificates are the problem.
            boolean ofCertificates = String.valueOf(e.getMessage()).contains(Settings.CA_FILE.key());
            throw refused(
                    e.getMessage(),
                    SERVER.stream()
                            .filter(setting -> ofCertificates || !setting.equals(Settings.CA_FILE))
                            .toList());
        } catch (IndexException e) {
            throw refused(e.getMessage(), List.of(Settings.INDEX));
        } catch (ClosedByInterruptException e) {
            throw new InterruptedException(); // by StopSignal, while a folder was being opened
        } catch (IOException e) {
            throw refused(reason(e), List.of(Settings.CACHE_DIR, WriteSettings.STAGING));
        }
    }

    /** Names the folder and the setting of a full disk: the exception lacks them. */
    private String reason(IOException e) {
        String why = String.valueOf(e.getMessage());
        if (!NoSpace.isSaidBy(why)) {
            return why;
        }
        List<Setting<Path>> folders = configuration.get(Settings.READ_ONLY)
                ? List.of(Settings.CACHE_DIR)
                : List.of(Settings.CACHE_DIR, WriteSettings.STAGING);
        List<Setting<Path>> full = folders.stream()
                .filter(folder -> LocalPaths.resolveLinks(configuration.get(folder))
                                .toFile()
                                .getUsableSpace()
                        == 0)
                .toList();
        return "no space left on the disk of "
                + (full.isEmpty() ? folders : full)
                        .stream()
                                .map(folder -> configuration.get(folder) + " (" + folder + ")")
                                .collect(Collectors.joining(" or "))
                + "; free space there, or set "
                + (full.isEmpty() ? folders : full).getFirst().optionName()
                + " to a folder on another disk";
    }

    private RefusedException refused(@Nullable String why, List<Setting<?>> settings) {
        return new RefusedException(why + configuration.whereSet(settings));
    }

    private void serve(BucketMount bucket, Metrics metrics) throws RefusedException, InterruptedException {
        Mount mount = bucket.mount();
        try (MountControl control = new MountControl(
                        plan, bucket, mountPoint, Logging.file().orElse(Path.of("")), configuration, source);
                TextWatch _ = new TextWatch(
                        () -> TextWatch.text(bucket.names(), Instant.now()),
                        names -> control.state().update(now -> now.withNames(names)));
                TextWatch _ = new TextWatch(
                        bucket::cacheFault, fault -> control.state().update(now -> now.withCacheFault(fault)))) {
            RunningMount running = control.running();
            StateFile state = control.state();
            state.update(now -> now.withBacklog("", bucket.failed(), false).withCacheFault(bucket.cacheFault()));
            if (Launcher.waits()) { // otherwise the terminal is gone, and SIGHUP ends the process
                HangupSignal.runs(control::reload);
            }
            metrics.publish(control.statistics());
            times.done("ready");
            log.info("{} is mounted on {}", running.source(), running.mountPoint());
            log.debug("Ready after {}", times);
            if (control.pauseMillis() >= 0) {
                log.info("No process served this mount for {} ms", control.pauseMillis());
            }
            tellReady(running, bucket);
            configuration
                    .find(Settings.WARM_PATHS)
                    .ifPresent(paths -> control.warm(paths, configuration.get(Settings.WARM_PIN)));
            UploadsAtExit backlog = bucket.backlog();
            if (backlog != null) {
                backlog.watch((left, failed) -> state.update(
                        now -> now.unmounted() ? now : withNumbers(now, backlog).withBacklog(left, failed, false)));
            }
            mount.awaitUnmounted();
            state.update(
                    now -> now.withBacklog("", now.failed(), true)); // penstock umount waits for this only for seconds
            CacheStatistics cache = bucket.cacheStatistics();
            log.info(
                    "{} unmounted from {}; read from memory: {}, from the cache disk: {}, from the store or in"
                            + " flight: {}",
                    running.source(),
                    running.mountPoint(),
                    ByteSizes.about(cache.memoryReadBytes()),
                    ByteSizes.about(cache.diskReadBytes()),
                    ByteSizes.about(cache.waitedReadBytes()));
            // While the state file still names this process, for programs that wait for its end.
            if (backlog != null) {
                backlog.tell((left, failed) ->
                        state.update(now -> withNumbers(now, backlog).withBacklog(left, failed, true)));
            }
            bucket.close();
            if (bucket.failed() > 0) {
                log.warn("Written files that could not be uploaded: {}; see {}", bucket.failed(), running.recovery());
            }
        }
    }

    private static RunningMount withNumbers(RunningMount now, UploadsAtExit backlog) {
        return now.withNumbers(backlog.files(), backlog.bytes());
    }

    private void tellReady(RunningMount running, BucketMount bucket) {
        List<String> news = new ArrayList<>(List.of(running.source() + " is mounted on " + running.mountPoint()));
        List<String> recovered = bucket.recovered();
        if (!recovered.isEmpty()) {
            log.info("Resuming uploads of an earlier mount: {}", recovered);
            news.add("Resuming uploads of an earlier mount: " + Printable.text(recovered.getFirst())
                    + (recovered.size() > 1 ? " and " + (recovered.size() - 1) + " more" : ""));
        }
        if (bucket.failed() > 0) {
            news.add("Written files that could not be uploaded: " + bucket.failed() + "; see "
                    + running.recovery() + " (they take " + ByteSizes.print(bucket.keptBytes())
                    + " of disk space until recovered or discarded)");
            log.warn("{}", news.getLast());
        }
        if (bucket.stranded() > 0) {
            news.add("Files in the staging folder for other buckets or servers: " + bucket.stranded() + "; see "
                    + running.recovery());
            log.warn("{}", news.getLast());
        }
        if (!bucket.cacheFault().isEmpty()) {
            news.add("Nothing is cached: " + bucket.cacheFault());
        }
        if (!plan.target().prefix().isEmpty() && bucket.foundNothing()) {
            news.add("No objects found below " + running.source() + "; check the prefix if you expected files");
        }
        for (ExposedFolder folder : LocalPaths.exposed(configuration)) {
            news.add(folder.fault() + ": " + MountPlan.mend(folder));
            log.warn("{}", news.getLast());
        }
        if (verbose) {
            news.forEach(System.out::println);
        }
        supervisor.ready(configuration.get(Settings.STANDBY));
        if (Launcher.waits()) {
            Launcher.ready();
        } else {
            System.out.println("Press Ctrl-C or run penstock umount " + running.mountPoint() + " to unmount.");
        }
    }

    private void checkSharing() throws RefusedException {
        SharePlan share = plan.share();
        if (share == null) {
            return;
        }
        String objection = Sharing.objection(share);
        if (objection != null) {
            throw refused(
                    objection, List.of(ShareSettings.TLS_CA, ShareSettings.TLS_CERTIFICATE, ShareSettings.TLS_KEY));
        }
    }

    private void checkOutside(Setting<Path> setting) throws RefusedException, MountException {
        checkOutside(setting, configuration.get(setting));
    }

    private void checkOutside(Setting<Path> setting, Path path) throws RefusedException, MountException {
        String objection =
                LocalPaths.objection(path, InheritedDevice.resolve(plan.mount().mountPoint()));
        if (objection != null) {
            throw refused(setting + ": " + path + objection, List.of(setting));
        }
    }
}

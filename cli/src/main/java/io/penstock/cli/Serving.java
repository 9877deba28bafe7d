package io.penstock.cli;

import io.penstock.cli.config.Configuration;
import io.penstock.cli.config.Host;
import io.penstock.cli.config.LogLevel;
import io.penstock.cli.config.Settings;
import io.penstock.fuse.Mount;
import io.penstock.fuse.MountException;
import io.penstock.objectstore.ObjectStoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The life of a serving process.
 *
 * <pre>
 *   checks ──▶ mounted ──▶ answers: the launcher is told ──▶ waits ──▶ unmounted ──▶ all closed, process ends
 *      │                                                      │ SIGTERM, Ctrl-C: unmounts, if busy detaches
 *      └─ refused: nothing is left
 * </pre>
 */
final class Serving {
    private static final Logger log = LoggerFactory.getLogger(Serving.class);

    private final Host host;
    private final MountPlan plan;
    private final Path logFile;
    private final LogLevel logLevel;
    private final StartTimes times = new StartTimes();

    Serving(Target target, Path mountPoint, Configuration configuration) {
        this.host = configuration.host();
        this.plan = MountPlan.of(target, mountPoint, configuration);
        this.logFile = configuration.get(Settings.LOG_FILE);
        this.logLevel = configuration.get(Settings.LOG_LEVEL);
        times.done("JVM and configuration");
    }

    /** Mounts, tells that it is mounted, and serves until it is unmounted. */
    void run() throws MountException, ObjectStoreException, RefusedException, InterruptedException {
        checkOutside("cache.dir", plan.cache().directory());
        checkOutside("log.file", logFile);
        if (Launcher.waits()) {
            Logging.toFile(logFile, logLevel);
        } else {
            Logging.toTerminal(logLevel);
        }
        // Closed in the opposite order: a process that is told to end waits until the bucket is closed.
        try (StopSignal stop = new StopSignal();
                MountedBucket bucket = open()) {
            stop.unmounts(bucket.mount());
            serve(bucket);
        }
    }

    private MountedBucket open() throws MountException, ObjectStoreException, RefusedException, InterruptedException {
        try {
            return MountedBucket.open(plan, times);
        } catch (IOException e) {
            throw new RefusedException("cache.dir: " + Reason.of(e));
        }
    }

    private void serve(MountedBucket bucket) throws RefusedException, InterruptedException {
        Mount mount = bucket.mount();
        RunningMount running = new RunningMount(
                plan.target().source(),
                mount.mountPoint(),
                ProcessHandle.current().pid(),
                mount.description(),
                plan.cache().directory(),
                logFile,
                Instant.now());
        try {
            checkAnswers(mount.mountPoint());
            save(running);
            times.done("first answer");
            log.info("{} is mounted on {}: {}", running.source(), running.mountPoint(), running.description());
            log.debug("Ready after {}", times);
            tellReady(running);
            mount.awaitUnmounted();
            log.info("{} is unmounted from {}; {}", running.source(), running.mountPoint(), bucket.cacheStatistics());
        } finally {
            delete(running);
        }
    }

    /** A mount is ready when it has answered a question: this one goes through the kernel to the bucket and back. */
    private static void checkAnswers(Path mountPoint) throws RefusedException {
        try {
            Files.getAttribute(mountPoint, "unix:ino", LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            throw new RefusedException("mounted, but the mount does not answer: " + Reason.of(e));
        }
    }

    private static void tellReady(RunningMount running) {
        System.out.println(running.source() + " is mounted on " + running.mountPoint());
        if (Launcher.waits()) {
            Launcher.ready();
        } else {
            System.out.println("Ctrl-C or penstock umount " + running.mountPoint() + " ends it.");
        }
    }

    private void checkOutside(String key, Path path) throws RefusedException {
        if (path.startsWith(plan.mount().mountPoint())) {
            throw new RefusedException(key + ": " + path + " lies inside the mount point "
                    + plan.mount().mountPoint() + "; choose a place outside of it");
        }
    }

    private void save(RunningMount running) {
        try {
            running.save(host);
        } catch (IOException e) {
            log.warn("penstock mounts will not show this process: {}", Reason.of(e));
        }
    }

    private void delete(RunningMount running) {
        try {
            running.delete(host);
        } catch (IOException e) {
            log.debug("The state file stays", e);
        }
    }
}

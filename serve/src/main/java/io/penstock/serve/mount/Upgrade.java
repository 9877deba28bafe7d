package io.penstock.serve.mount;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.fuse.Supervisor;
import io.penstock.settings.process.RefusedException;
import io.penstock.settings.process.Version;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Replaces this process by one of the installed version. If all goes well, the supervisor kills this process, so only
 * failures are seen here. Thread-safe.
 */
final class Upgrade {
    private static final Logger log = LoggerFactory.getLogger(Upgrade.class);

    /** Part of the description of a mount whose process cannot be replaced; the reason follows. */
    private static final String MORTAL = "ends with its process";

    private final Supervisor supervisor = Supervisor.current();
    private final Path mountPoint;
    private final String description;

    @GuardedBy("this")
    private boolean isRunning;

    @GuardedBy("this")
    private String failure = "";

    /**
     * For the command.
     *
     * @param failure why the last attempt failed; empty while it is running
     * @param pauseMillis for how long no process served the mount before this one; -1 if that is not known
     */
    record Status(String version, String failure, long pauseMillis) {}

    /** @param description of the mount */
    Upgrade(Path mountPoint, String description) {
        this.mountPoint = mountPoint;
        this.description = description;
    }

    /** The command {@code upgrade}; starts one if its argument {@code start} is true. */
    synchronized Status run(JsonNode arguments, long pauseMillis) throws RefusedException {
        if (arguments.path("start").asBoolean()) {
            start();
        }
        return new Status(Version.NUMBER, failure, pauseMillis);
    }

    @GuardedBy("this")
    private void start() throws RefusedException {
        int reason = description.indexOf(MORTAL);
        if (reason >= 0 || !supervisor.isThere()) {
            throw new RefusedException(mountPoint + " cannot be upgraded while it is mounted: it "
                    + (reason >= 0 ? description.substring(reason) : MORTAL)
                    + "; run penstock umount, and mount it again");
        } else if (isRunning) {
            throw new RefusedException("an upgrade of " + mountPoint + " is already in progress");
        }
        try {
            Reader said = supervisor.upgrade();
            isRunning = true;
            failure = "";
            log.info("Upgrade: a process of the installed version is started");
            Thread.ofPlatform().daemon().name("upgrade").start(() -> awaitFailure(said));
        } catch (IOException e) {
            throw new RefusedException(mountPoint + " cannot be upgraded: " + e.getMessage());
        }
    }

    private void awaitFailure(Reader said) {
        String why;
        try (BufferedReader lines = new BufferedReader(said)) {
            why = lines.lines()
                    .map(line -> line.strip().replaceFirst("^penstock: ", ""))
                    .filter(line -> !line.isEmpty())
                    .collect(Collectors.joining("\n"));
        } catch (IOException e) {
            why = String.valueOf(e.getMessage());
        }
        fail(
                why.isEmpty()
                        ? "its service manager starts no second process. Kill process "
                                + ProcessHandle.current().pid() + ": the next one is of the installed version"
                        : why);
    }

    private synchronized void fail(String why) {
        log.warn("Upgrade failed; this process continues: {}", why);
        failure = why;
        isRunning = false;
    }
}

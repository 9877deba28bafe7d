package io.penstock.cli.mount;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.cli.control.ControlCommand;
import io.penstock.cli.control.ProfileState;
import io.penstock.cli.process.Reason;
import io.penstock.cli.process.RefusedException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.text.ParseException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records this process with JFR (Java's flight recorder) on request, one recording at a time. Its threads and memory exist only
 * then. Safe for use by any number of threads.
 *
 * <pre>
 *   none ──start──▶ recording ──its seconds have passed, or closed──▶ written, or failed ──start──▶ …
 * </pre>
 */
final class Profiler implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Profiler.class);

    /** How long {@link #close} waits for the recording to be written. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /**
     * Events that are left out: profiles are attached to reports, and these hold the environment, with the secrets of AWS in
     * it, properties, and the command lines of this process, of those that it starts, and of all others.
     */
    private static final List<String> LEFT_OUT = List.of(
            "jdk.InitialEnvironmentVariable",
            "jdk.InitialSystemProperty",
            "jdk.JVMInformation",
            "jdk.JavaAgent",
            "jdk.NativeAgent",
            "jdk.ProcessStart",
            "jdk.SystemProcess");

    private final Path mountPoint;

    /** Counted down at the mount's end. The recorder is not interrupted: that would close the file that it writes. */
    private final CountDownLatch closed = new CountDownLatch(1);

    @GuardedBy("this")
    private ProfileState state = ProfileState.NONE;

    /** The last one that recorded; null if none has. */
    @GuardedBy("this")
    private @Nullable Thread recorder;

    /** @param mountPoint without symbolic links */
    Profiler(Path mountPoint) {
        this.mountPoint = mountPoint;
    }

    /** The commands of the control socket. */
    Map<String, ControlCommand> commands() {
        return Map.of("profile", this::start, "profile-state", _ -> state());
    }

    private synchronized ProfileState state() {
        return state;
    }

    private synchronized ProfileState start(JsonNode arguments) throws RefusedException {
        if (state.recording()) {
            throw new RefusedException("a profile is being recorded already, to " + state.output());
        }
        int seconds = arguments.path("seconds").asInt();
        if (seconds < 1 || seconds > ProfileState.LONGEST_SECONDS) {
            throw new RefusedException("seconds: must be a whole number from 1 to " + ProfileState.LONGEST_SECONDS);
        }
        Path output = output(arguments.path("output").asText());
        state = new ProfileState(output.toString(), true, null, false);
        recorder = Thread.ofPlatform().daemon().name("profile").start(() -> record(seconds, output));
        return state;
    }

    /** Makes the file, so that one that cannot be written is refused at once. */
    private Path output(String text) throws RefusedException {
        try {
            Path output = Path.of(text);
            if (!output.isAbsolute()) {
                throw new RefusedException("output: must be an absolute path, but is '" + text + "'");
            } else if (MountBoundary.leadsInto(output, List.of(mountPoint))) {
                throw new RefusedException(
                        "output: " + output + " lies inside the mount; choose a place outside of it");
            }
            Files.newByteChannel(
                            output,
                            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))
                    .close();
            return output;
        } catch (FileAlreadyExistsException e) {
            throw new RefusedException("output: " + text + " exists already; choose another name");
        } catch (IOException e) {
            throw new RefusedException("output: " + text + " cannot be written (" + Reason.of(e) + ")");
        } catch (InvalidPathException e) {
            throw new RefusedException("output: no path: '" + text + "'");
        }
    }

    private void record(int seconds, Path output) {
        String failure = null;
        boolean shortened = false;
        try (Recording recording = new Recording(Configuration.getConfiguration("profile"))) {
            LEFT_OUT.forEach(recording::disable);
            recording.setDestination(output);
            recording.setDumpOnExit(true); // by JFR itself, if a signal ends the process first
            recording.start();
            shortened = awaitClosed(seconds);
            recording.setDestination(null); // stop() would write there, and hide an error
            recording.stop();
            recording.dump(output);
        } catch (IOException e) {
            failure = Reason.of(e);
        } catch (ParseException | RuntimeException e) {
            failure = isWritten(output) ? null : e.toString(); // JFR has ended the recording at the same time
        } finally {
            ended(new ProfileState(output.toString(), false, failure, shortened));
        }
    }

    /** True if the mount has ended in that time. */
    private boolean awaitClosed(int seconds) {
        try {
            return closed.await(seconds, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException("the recorder is never interrupted", e);
        }
    }

    private static boolean isWritten(Path output) {
        try {
            return Files.size(output) > 0;
        } catch (IOException e) {
            return false;
        }
    }

    private synchronized void ended(ProfileState last) {
        state = last;
        if (last.failure() != null) {
            log.warn("The profile {} is not written: {}", last.output(), last.failure());
        } else if (last.shortened()) {
            log.info("The profile {} ends before its time, with the mount", last.output());
        }
    }

    /** Ends the recording that runs, and waits until its events are written, for a bounded time. */
    @Override
    public void close() {
        closed.countDown();
        Thread running;
        synchronized (this) {
            running = recorder;
        }
        if (running == null) {
            return;
        }
        try {
            if (!running.join(PATIENCE)) {
                log.warn("The profile is not written after {} s", PATIENCE.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

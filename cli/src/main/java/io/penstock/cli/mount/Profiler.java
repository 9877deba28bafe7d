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
import java.util.Map;
import java.util.Set;
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
 *   none ──start──▶ recording ──its seconds have passed──▶ written, or failed ──start──▶ …
 * </pre>
 */
final class Profiler {
    private static final Logger log = LoggerFactory.getLogger(Profiler.class);

    private final Path mountPoint;

    @GuardedBy("this")
    private ProfileState state = ProfileState.NONE;

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
        state = new ProfileState(output.toString(), true, null);
        Thread.ofPlatform().daemon().name("profile").start(() -> record(seconds, output));
        return state;
    }

    /** Makes the file, so that one that cannot be written is refused at once. */
    private Path output(String text) throws RefusedException {
        try {
            Path output = Path.of(text);
            if (!output.isAbsolute()) {
                throw new RefusedException("output: must be an absolute path, but is '" + text + "'");
            } else if (Serving.resolveLinks(output).startsWith(mountPoint)) {
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
        try (Recording recording = new Recording(Configuration.getConfiguration("profile"))) {
            recording.start();
            TimeUnit.SECONDS.sleep(seconds);
            recording.stop();
            recording.dump(output);
        } catch (IOException e) {
            failure = Reason.of(e);
        } catch (ParseException | RuntimeException e) {
            failure = e.toString();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            failure = "interrupted";
        } finally {
            ended(output, failure);
        }
    }

    private synchronized void ended(Path output, @Nullable String failure) {
        state = new ProfileState(output.toString(), false, failure);
        if (failure != null) {
            log.warn("The profile {} is not written: {}", output, failure);
        }
    }
}

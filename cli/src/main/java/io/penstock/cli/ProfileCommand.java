package io.penstock.cli;

import io.penstock.cli.config.Host;
import io.penstock.cli.control.ProfileState;
import io.penstock.cli.process.RefusedException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "profile",
        description = {
            "Records the process of a mount for some time, and writes a file for JDK Mission Control or the JDK's"
                    + " jfr: where its CPU time goes, the waits of its threads, and slow reads, fetches and commits"
                    + " with their keys.",
            "",
            "The mount's process writes the file, so its user must be able to. Ctrl-C ends the waiting, not the"
                    + " recording."
        })
final class ProfileCommand implements Callable<Integer> {
    private static final Duration BETWEEN_QUESTIONS = Duration.ofMillis(500);

    /** How long a process that has unmounted may take to end. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Duration MOMENT = Duration.ofMillis(50);

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = ServingMount.LABEL, arity = "0..1", description = ServingMount.DESCRIPTION)
    private @Nullable String mountPoint;

    @Option(
            names = "--seconds",
            paramLabel = "<number>",
            defaultValue = "30",
            description = "How long to record, from 1 to 3600. Default: ${DEFAULT-VALUE}.")
    private int seconds;

    @Option(
            names = "--output",
            paramLabel = "<file>",
            description = "The file, which must not exist. Default: penstock-PID-TIME.jfr in the current folder.")
    private @Nullable String output;

    @Option(names = "--json", description = "Show the result as a JSON object.")
    private boolean json;

    @Override
    public Integer call() throws IOException, RefusedException, InterruptedException {
        if (seconds < 1 || seconds > ProfileState.LONGEST_SECONDS) {
            throw new ParameterException(
                    spec.commandLine(), "--seconds " + seconds + ": must be from 1 to " + ProfileState.LONGEST_SECONDS);
        }
        ServingMount mount = ServingMount.find(mountPoint);
        String name = output != null
                ? output
                : "penstock-" + mount.mount().pid() + "-"
                        + LocalDateTime.now(ZoneId.systemDefault()).format(TIME) + ".jfr";
        Path file = Host.current().path(name);
        ProfileState state =
                ProfileState.of(mount.ask("profile", Map.of("seconds", seconds, "output", file.toString())));
        PrintWriter out = spec.commandLine().getOut();
        if (!json) {
            out.println("Recording for " + seconds + " s");
            out.flush();
        }
        try (Farewell _ = new Farewell(() -> sayThatItGoesOn(file))) {
            while (state.recording()) {
                Thread.sleep(BETWEEN_QUESTIONS);
                try {
                    state = ProfileState.of(mount.ask("profile-state", Map.of()));
                } catch (RefusedException e) {
                    state = endedWith(mount, file, e);
                }
            }
        }
        if (state.failure() != null) {
            throw new RefusedException(file + " is not written: " + state.failure());
        }
        out.println(
                json
                        ? state.toJson()
                        : file + " is written"
                                + (state.shortened() ? ", with the events until the mount ended" : "")
                                + "; the JDK's \"jfr summary\" and JDK Mission Control read it");
        return ExitCode.DONE;
    }

    private void sayThatItGoesOn(Path file) {
        PrintWriter err = spec.commandLine().getErr();
        err.println();
        err.println("The recording goes on, and is written to " + file + " when its " + seconds + " s are over");
        err.flush();
    }

    /**
     * The profile of a mount that has ended: its process writes the events until then.
     *
     * @param why it does not answer
     */
    private static ProfileState endedWith(ServingMount mount, Path file, RefusedException why)
            throws IOException, RefusedException, InterruptedException {
        if (mount.isServed()) {
            throw why;
        }
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (mount.mount().isAlive() && System.nanoTime() < deadline) {
            Thread.sleep(MOMENT);
        }
        boolean isWritten = Files.exists(file) && Files.size(file) > 0;
        return new ProfileState(
                file.toString(),
                false,
                isWritten ? null : "the mount's process ended before the recording was written",
                true);
    }
}

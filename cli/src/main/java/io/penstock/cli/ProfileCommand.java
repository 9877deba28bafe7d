package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.cli.config.Host;
import io.penstock.cli.control.ProfileState;
import io.penstock.cli.process.RefusedException;
import java.io.IOException;
import java.io.PrintWriter;
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
            "Records for some time what the process of a mount does, and writes a file for JDK Mission Control or the"
                    + " JDK's jfr: where its CPU time goes, what its threads wait for, and slow reads, fetches and"
                    + " commits with their keys.",
            "",
            "The mount's process writes the file, so its user must be able to. Ctrl-C ends the waiting, not the"
                    + " recording."
        })
final class ProfileCommand implements Callable<Integer> {
    private static final Duration BETWEEN_QUESTIONS = Duration.ofMillis(500);

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
        JsonNode result = mount.ask("profile", Map.of("seconds", seconds, "output", file.toString()));
        PrintWriter out = spec.commandLine().getOut();
        if (!json) {
            out.println("Recording for " + seconds + " s");
            out.flush();
        }
        try (Farewell _ = new Farewell(() -> sayThatItGoesOn(file))) {
            while (ProfileState.of(result).recording()) {
                Thread.sleep(BETWEEN_QUESTIONS);
                result = mount.ask("profile-state", Map.of());
            }
        }
        ProfileState state = ProfileState.of(result);
        if (state.failure() != null) {
            throw new RefusedException(file + " is not written: " + state.failure());
        }
        out.println(json ? result : file + " is written; the JDK's \"jfr summary\" and JDK Mission Control read it");
        return ExitCode.DONE;
    }

    private void sayThatItGoesOn(Path file) {
        PrintWriter err = spec.commandLine().getErr();
        err.println();
        err.println("The recording goes on, and is written to " + file + " when its " + seconds + " s are over");
        err.flush();
    }
}

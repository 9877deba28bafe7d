package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.serve.control.Json;
import io.penstock.serve.state.RunningMount;
import io.penstock.settings.Host;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "upgrade",
        description = {
            "Replaces the processes of mounts by those of the installed version, one after the other. Programs that use"
                    + " the mounts do not notice.",
            "",
            "The new process starts beside the old one, which is replaced when the new one is ready. If the new one"
                    + " is not ready within a minute, the old one continues, and the exit code is 1. Settings"
                    + " changed in the configuration file apply from then on. It works for mounts that survive their"
                    + " process, as penstock mounts shows; unmount others, and mount them again."
        })
final class UpgradeCommand implements Callable<Integer> {
    /** The time until another process serves the mount: a minute to get ready, and one to take over. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private static final Duration PAUSE = Duration.ofMillis(50);

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = ServingMount.LABEL, arity = "0..*", description = "The mount points.")
    private List<String> mountPoints = new ArrayList<>();

    @Option(names = "--all", description = "Upgrade all mounts of this user.")
    private boolean all;

    @Option(names = "--json", description = "Print a JSON array for other programs.")
    private boolean json;

    /**
     * The outcome for a mount.
     *
     * @param before the version replaced; empty if it was not
     * @param after the version that serves the mount now; empty if it was not replaced
     * @param pauseMillis for how long no process served the mount; -1 if that is not known
     * @param failure why it was not replaced; empty if it was
     */
    private record Outcome(String mountPoint, String before, String after, long pauseMillis, String failure) {}

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (all != mountPoints.isEmpty()) {
            throw new ParameterException(spec.commandLine(), "give either mount points, or --all");
        }
        if (all) {
            ServingMount.Mounts.read()
                    .served()
                    .forEach(each -> mountPoints.add(each.mountPoint().toString()));
        }
        PrintWriter out = spec.commandLine().getOut();
        List<Outcome> outcomes = new ArrayList<>();
        int exit = ExitCode.DONE;
        for (String mountPoint : mountPoints) {
            try {
                Outcome done = upgrade(ServingMount.find(mountPoint));
                outcomes.add(done);
                if (!json) {
                    out.println(done.mountPoint + ": " + done.before + " replaced by " + done.after
                            + (done.pauseMillis < 0 ? "" : "; calls waited for at most " + done.pauseMillis + " ms"));
                    out.flush();
                }
            } catch (RefusedException e) {
                outcomes.add(new Outcome(mountPoint, "", "", -1, String.valueOf(e.getMessage())));
                spec.commandLine().getErr().println("penstock: " + e.getMessage());
                exit = ExitCode.FAILED;
            }
        }
        if (json) {
            out.println(Json.line(outcomes));
        }
        return exit;
    }

    private static Outcome upgrade(ServingMount old) throws IOException, RefusedException, InterruptedException {
        String before =
                old.ask("upgrade", Map.of("start", true)).path("version").asText();
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() - deadline < 0) {
            Optional<RunningMount> now = RunningMount.newest(
                    RunningMount.list(Host.current()), old.mount().mountPoint(), false);
            JsonNode status = now.isEmpty() ? null : status(new ServingMount(now.get()));
            if (status != null && now.get().pid() != old.mount().pid()) {
                return new Outcome(
                        old.mount().mountPoint().toString(),
                        before,
                        status.path("version").asText(),
                        status.path("pauseMillis").asLong(),
                        "");
            } else if (status != null && !status.path("failure").asText().isEmpty()) {
                throw new RefusedException(old.mount().mountPoint() + " is not upgraded, and its process continues: "
                        + status.path("failure").asText());
            }
            Thread.sleep(PAUSE);
        }
        throw new RefusedException(
                "no process of " + old.mount().mountPoint() + " responds; penstock mounts shows whether it is mounted");
    }

    /** Null if the process ends, or has only begun. */
    private static @Nullable JsonNode status(ServingMount mount) {
        try {
            return mount.ask("upgrade", Map.of());
        } catch (RefusedException _) {
            return null;
        }
    }
}

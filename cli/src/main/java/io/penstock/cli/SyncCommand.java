package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.serve.control.JobStatus;
import io.penstock.serve.control.Json;
import io.penstock.settings.ByteSizes;
import io.penstock.settings.Durations;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.HashMap;
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
        name = "sync",
        description = {
            "Waits until every file closed or fsynced in a mount so far is in the bucket.",
            "",
            "It does not wait for later closes, nor for open files that were not fsynced. While the server is"
                    + " unavailable, it waits until --timeout, and names the file it is waiting for. Ctrl-C ends only"
                    + " the wait; the uploads continue.",
            "",
            "The exit code is 0 if all these files are in the bucket; otherwise it is 1, and the rest are named."
        })
final class SyncCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = ServingMount.LABEL, arity = "0..1", description = ServingMount.DESCRIPTION)
    private @Nullable String mountPoint;

    @Option(
            names = "--timeout",
            paramLabel = "<time>",
            description = "The maximum time to wait, such as 30s or 10m. Default: no limit.")
    private @Nullable String timeout;

    @Option(names = "--json", description = "Print JSON for other programs.")
    private boolean json;

    @Override
    public Integer call() throws IOException, RefusedException, InterruptedException {
        Map<String, Object> request = new HashMap<>();
        if (timeout != null) {
            Duration time = Durations.parse(timeout);
            if (time == null) {
                throw new ParameterException(
                        spec.commandLine(), "--timeout " + timeout + ": must be a time such as 30s or 10m");
            }
            request.put("timeout", time.toMillis());
        }
        ServingMount mount = ServingMount.find(mountPoint);
        int job = mount.ask("sync", request).path("job").asInt();
        JsonNode answer = new JobWatch(mount, spec.commandLine().getErr()).awaitOrCancel(job);
        JobStatus end = Json.read(answer, JobStatus.class);
        boolean all = JobWatch.tellProblems(end, spec.commandLine().getErr());
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(answer);
        } else {
            long visible = end.outcomes().getOrDefault("visible", 0L);
            out.println(
                    visible == 0 && all
                            ? "There was nothing to wait for"
                            : "uploaded " + Figures.count(visible, "file") + ", " + ByteSizes.about(end.bytes()));
        }
        out.flush();
        return all ? ExitCode.DONE : ExitCode.FAILED;
    }
}

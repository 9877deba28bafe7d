package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.serve.control.JobStatus;
import io.penstock.serve.control.Json;
import io.penstock.settings.ByteSizes;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
        name = "evict",
        description = {
            "Drops files from a mount's cache, on NVMe and in memory.",
            "",
            "The bucket keeps them, and written data that is not uploaded yet stays. Pinned files stay too."
        })
final class EvictCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private PathArguments arguments;

    @Option(names = "--force", description = "Also drop pinned files, and unpin them.")
    private boolean force;

    @Option(names = "--json", description = "Print JSON for other programs.")
    private boolean json;

    @Override
    public Integer call() throws IOException, RefusedException, InterruptedException {
        arguments.require("");
        ServingMount mount = arguments.mount();
        PrintWriter out = spec.commandLine().getOut();
        int job = arguments
                .ask(mount, "evict", null, Map.of("force", force))
                .path("job")
                .asInt();
        JsonNode answer = new JobWatch(mount, spec.commandLine().getErr()).await(job);
        JobStatus end = Json.read(answer, JobStatus.class);
        boolean all = JobWatch.tellProblems(end, spec.commandLine().getErr());
        out.println(
                json
                        ? answer.toString()
                        : Figures.count(end.outcomes().getOrDefault("evicted", 0L), "file") + " dropped, "
                                + ByteSizes.about(end.bytes()) + " of them on NVMe");
        out.flush();
        return all ? ExitCode.DONE : ExitCode.FAILED;
    }
}

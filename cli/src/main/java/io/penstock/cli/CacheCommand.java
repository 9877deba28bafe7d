package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.core.Printable;
import io.penstock.serve.control.JobStatus;
import io.penstock.serve.control.JobStatus.PathResidency;
import io.penstock.serve.control.Json;
import io.penstock.settings.ByteSizes;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
        name = "cache",
        description = "Shows the content of a mount's cache.",
        subcommands = {CacheCommand.Status.class})
final class CacheCommand {
    private CacheCommand() {}

    @Command(
            name = "status",
            description = {
                "Shows how much of each file or folder is in a mount's cache, on NVMe and in memory, and pinned.",
                "",
                "Symbolic links in the folders and empty files do not count: they have no data to cache."
            })
    static final class Status implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Mixin
        private PathArguments arguments;

        @Option(names = "--json", description = "Print JSON for other programs.")
        private boolean json;

        @Override
        public Integer call() throws IOException, RefusedException, InterruptedException {
            arguments.orAllOfTheMount();
            ServingMount mount = arguments.mount();
            int job = arguments
                    .ask(mount, "residency", null, Map.of())
                    .path("job")
                    .asInt();
            JsonNode answer = new JobWatch(mount, spec.commandLine().getErr()).await(job);
            JobStatus end = Json.read(answer, JobStatus.class);
            boolean all = JobWatch.tellProblems(end, spec.commandLine().getErr());
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                out.println(answer.path("residencies"));
            } else {
                out.println("   files     size     nvme         memory   pinned  path");
                end.residencies().forEach(row -> out.println(line(row)));
            }
            out.flush();
            return all ? ExitCode.DONE : ExitCode.FAILED;
        }

        private static String line(PathResidency row) {
            return String.format(
                    Locale.ROOT,
                    "%,8d %8s %8s %3d%% %8s %8s  %s",
                    row.files(),
                    ByteSizes.about(row.bytes()),
                    ByteSizes.about(row.nvme()),
                    row.bytes() == 0 ? 100 : 100 * row.nvme() / row.bytes(),
                    ByteSizes.about(row.memory()),
                    ByteSizes.about(row.pinned()),
                    Printable.text(row.path())
                            + (row.pinnedUntil() == null ? "" : "  (pinned until " + row.pinnedUntil() + ")"));
        }
    }
}

package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
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
        name = "unpin",
        description = {
            "Unpins files that penstock warm --pin has pinned, so that they can be evicted again.",
            "",
            "Works for files that are no longer in the bucket, too."
        })
final class UnpinCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private PathArguments arguments;

    @Option(names = "--json", description = "Print JSON for other programs.")
    private boolean json;

    @Override
    public Integer call() throws IOException, RefusedException {
        arguments.require("");
        JsonNode answer = arguments.ask(arguments.mount(), "unpin", null, Map.of());
        long files = answer.path("files").asLong();
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(answer);
        } else if (files > 0) {
            out.println(Figures.count(files, "file") + " unpinned");
        }
        out.flush();
        if (files == 0) {
            spec.commandLine().getErr().println("penstock: none of these files is pinned");
        }
        return files == 0 ? ExitCode.FAILED : ExitCode.DONE;
    }
}

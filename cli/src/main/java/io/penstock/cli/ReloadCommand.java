package io.penstock.cli;

import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "reload",
        description = {
            "Makes a mount reload its configuration file, and lists the changes, including those that need a remount.",
            "",
            "Options given to penstock mount or in fstab still override the file. Changes by penstock set are undone."
                    + " SIGHUP to the serving process does the same, and writes the list to the mount's log."
        })
final class ReloadCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = ServingMount.LABEL, arity = "0..1", description = ServingMount.DESCRIPTION)
    private @Nullable String mountPoint;

    @Mixin
    private SetCommand.Changes output;

    @Override
    public Integer call() throws IOException, RefusedException {
        output.print(ServingMount.find(mountPoint).ask("reload", Map.of()), spec);
        return ExitCode.DONE;
    }
}

package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.serve.mount.LiveConfiguration;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.SettingSource;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "set",
        description = {
            "Changes settings of a mount while it serves, until penstock reload or until it is unmounted.",
            "",
            "docs/CONFIGURATION.md lists the settings that can be changed this way. Either all changes take effect, or"
                    + " none. When a limit is lowered, data and requests above it drain; nothing fails."
        },
        footer = {
            "",
            "Examples:",
            "  penstock set /mnt/data readahead.concurrency=32 upload.concurrency=8",
            "  penstock set /mnt/data cache.size=500GiB log.level=debug"
        })
final class SetCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(
            arity = "1..*",
            paramLabel = "[" + ServingMount.LABEL + "] KEY=VALUE",
            description = {ServingMount.DESCRIPTION, "Keys as in -o, with dots, dashes or underscores."})
    private List<String> arguments;

    @Mixin
    private Changes output;

    @Override
    public Integer call() throws IOException, ConfigurationException, RefusedException {
        boolean isNamed = !arguments.getFirst().contains("=");
        List<String> settings = arguments.subList(isNamed ? 1 : 0, arguments.size());
        SettingSource _ = LiveConfiguration.parse(settings, "set"); // checked before anything is tried
        output.print(
                ServingMount.find(isNamed ? arguments.getFirst() : null).ask("set", Map.of("settings", settings)),
                spec);
        return ExitCode.DONE;
    }

    /** How changed settings are shown. */
    static final class Changes {
        @Option(names = "--json", description = "Show the changes as a JSON array, for other programs.")
        private boolean json;

        /** @param changes the mount's response: an array of objects with key, before, after and holdsNow */
        void print(JsonNode changes, CommandSpec spec) {
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                out.println(changes);
            } else if (changes.isEmpty()) {
                out.println("No changes.");
            } else {
                changes.forEach(change -> out.println(line(change)));
            }
            out.flush();
        }

        private static String line(JsonNode change) {
            return change.path("key").asText() + ": " + change.path("before").asText() + " -> "
                    + change.path("after").asText()
                    + (change.path("holdsNow").asBoolean() ? "" : ", at the next mount");
        }
    }
}

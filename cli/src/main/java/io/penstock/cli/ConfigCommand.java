package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.cli.config.Configuration;
import io.penstock.cli.config.ConfigurationException;
import io.penstock.cli.config.ConfigurationFile;
import io.penstock.cli.config.Host;
import io.penstock.cli.config.Settings;
import io.penstock.cli.config.SettingsPage;
import io.penstock.cli.process.RefusedException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "config",
        description = "Checks a configuration file, or shows the effective settings.",
        subcommands = {ConfigCommand.Check.class, ConfigCommand.Show.class, ConfigCommand.Document.class})
final class ConfigCommand {

    @Command(name = "check", description = "Reports every mistake in a configuration file, with its line.")
    static final class Check implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Parameters(paramLabel = "FILE", description = "The file.")
        private String file;

        @Override
        public Integer call() throws ConfigurationException {
            Host host = Host.current();
            Path path = host.path(file);
            Configuration.check(host, ConfigurationFile.find(path, host));
            spec.commandLine().getOut().println(path + ": no mistakes");
            return ExitCode.DONE;
        }
    }

    @Command(
            name = "show",
            description = {
                "Shows every setting that a mount of the bucket would use, and where it was set.",
                "",
                "Takes the same options as penstock mount. With --mount, shows what holds in a mount now."
            })
    static final class Show implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Parameters(
                paramLabel = "BUCKET",
                arity = "0..1",
                defaultValue = "BUCKET",
                description = "The bucket; without it, the settings of buckets that have no section of their own.")
        private String bucket;

        @Option(
                names = "--mount",
                paramLabel = ServingMount.LABEL,
                description = "Show the settings of the mount on this folder instead.")
        private @Nullable String mountPoint;

        @Mixin
        private ConfigurationArguments arguments;

        /** A line, and the comment that follows it. */
        private record Line(String setting, String origin) {}

        @Override
        public Integer call() throws ConfigurationException, IOException, RefusedException {
            List<Line> lines = mountPoint == null
                    ? of(arguments.resolve(bucket, spec.commandLine().getParseResult(), "-o"))
                    : of(ServingMount.find(mountPoint).ask("config", Map.of()));
            int width =
                    lines.stream().mapToInt(line -> line.setting.length()).max().orElse(0);
            PrintWriter out = spec.commandLine().getOut();
            lines.forEach(line ->
                    out.println(line.setting + " ".repeat(width - line.setting.length()) + "  # " + line.origin));
            return ExitCode.DONE;
        }

        private static List<Line> of(Configuration configuration) {
            return Settings.ALL.stream()
                    .map(setting -> new Line(
                            setting.key() + ": " + configuration.show(setting),
                            configuration.origin(setting).toString()))
                    .toList();
        }

        private static List<Line> of(JsonNode settings) {
            List<Line> lines = new ArrayList<>();
            settings.forEach(each -> lines.add(new Line(
                    each.path("key").asText() + ": " + each.path("value").asText(),
                    each.path("origin").asText())));
            return lines;
        }
    }

    @Command(name = "document", hidden = true, description = "Prints docs/CONFIGURATION.md.")
    static final class Document implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Override
        public Integer call() {
            spec.commandLine().getOut().print(SettingsPage.text());
            spec.commandLine().getOut().flush();
            return ExitCode.DONE;
        }
    }
}

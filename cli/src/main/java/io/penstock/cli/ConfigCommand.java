package io.penstock.cli;

import io.penstock.cli.config.Configuration;
import io.penstock.cli.config.ConfigurationException;
import io.penstock.cli.config.ConfigurationFile;
import io.penstock.cli.config.Host;
import io.penstock.cli.config.Setting;
import io.penstock.cli.config.Settings;
import io.penstock.cli.config.SettingsPage;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
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
                "Takes the same options as penstock mount."
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

        @Mixin
        private ConfigurationArguments arguments;

        @Override
        public Integer call() throws ConfigurationException {
            Configuration configuration =
                    arguments.resolve(bucket, spec.commandLine().getParseResult(), "-o");
            int width = Settings.ALL.stream()
                    .mapToInt(setting -> line(setting, configuration).length())
                    .max()
                    .orElse(0);
            for (Setting<?> setting : Settings.ALL) {
                String line = line(setting, configuration);
                spec.commandLine()
                        .getOut()
                        .println(line + " ".repeat(width - line.length()) + "  # " + configuration.origin(setting));
            }
            return ExitCode.DONE;
        }

        private static String line(Setting<?> setting, Configuration configuration) {
            return setting.key() + ": " + configuration.show(setting);
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

package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.serve.control.Json;
import io.penstock.serve.mount.Target;
import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.ConfigurationFile;
import io.penstock.settings.Host;
import io.penstock.settings.Origin;
import io.penstock.settings.Settings;
import io.penstock.settings.process.RefusedException;
import io.penstock.tools.measure.Text;
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
        subcommands = {ConfigCommand.Check.class, ConfigCommand.Show.class})
final class ConfigCommand {

    @Command(name = "check", description = "Reports every error in a configuration file, with its line number.")
    static final class Check implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Parameters(paramLabel = "FILE", description = "The file.")
        private String file;

        @Option(names = "--json", description = "Print the errors as a JSON array of strings, empty if there are none.")
        private boolean json;

        @Override
        public Integer call() throws ConfigurationException {
            Host host = Host.current();
            Path path = host.path(file);
            PrintWriter out = spec.commandLine().getOut();
            try {
                Configuration.check(host, ConfigurationFile.find(path, host));
            } catch (ConfigurationException e) {
                if (!json) {
                    throw e;
                }
                out.println(Json.line(e.problems()));
                return ExitCode.USAGE;
            }
            out.println(json ? "[]" : path + ": no errors");
            return ExitCode.DONE;
        }
    }

    @Command(
            name = "show",
            description = {
                "Shows every setting that a mount of the bucket would use: first those that are set, with their source,"
                        + " then the defaults.",
                "",
                "Accepts the same options as penstock mount. With --mount, shows a mount's current settings."
            })
    static final class Show implements Callable<Integer> {
        private static final int WIDTH = 100;

        /** Wider values do not move the comments of other lines. */
        private static final int WIDEST = 50;

        @Spec
        private CommandSpec spec;

        @Parameters(
                paramLabel = "BUCKET[/PREFIX]",
                arity = "0..1",
                defaultValue = "BUCKET",
                description = "The bucket; without it, the settings of buckets without their own section.")
        private String bucket;

        @Option(
                names = "--mount",
                paramLabel = ServingMount.LABEL,
                description = "Show the settings of the mount on this folder instead.")
        private @Nullable String mountPoint;

        @Option(names = "--json", description = "Print a JSON array of objects with key, value and origin.")
        private boolean json;

        @Mixin
        private ConfigurationArguments arguments;

        /** A setting, and the comment that follows it. */
        private record Line(String key, String value, String origin) {
            private boolean isSet() {
                return !origin.equals(new Origin.Default().toString());
            }

            private String text(int width) {
                String text = key + ": " + value;
                String comment = "  # " + origin;
                if (!isSet()) {
                    return Text.wrap(WIDTH, "", "    ", text);
                } else if (Math.max(text.length(), width) + comment.length() <= WIDTH) {
                    return text + " ".repeat(Math.max(0, width - text.length())) + comment + "\n";
                }
                return text + "\n" + Text.wrap(WIDTH, "  # ", "  # ", origin);
            }
        }

        @Override
        public Integer call() throws ConfigurationException, IOException, RefusedException {
            List<Line> lines = mountPoint == null
                    ? of(arguments.resolve(
                            Target.parse(bucket).bucket(), spec.commandLine().getParseResult(), "-o"))
                    : of(ServingMount.find(mountPoint).ask("config", Map.of()));
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                out.println(Json.line(lines));
                return ExitCode.DONE;
            }
            List<Line> set = lines.stream().filter(Line::isSet).toList();
            int width = set.stream()
                    .mapToInt(line -> line.key().length() + 2 + line.value().length())
                    .filter(each -> each <= WIDEST)
                    .max()
                    .orElse(0);
            set.forEach(line -> out.print(line.text(width)));
            out.println((set.isEmpty() ? "" : "\n") + "# defaults");
            lines.stream().filter(line -> !line.isSet()).forEach(line -> out.print(line.text(0)));
            out.flush();
            return ExitCode.DONE;
        }

        private static List<Line> of(Configuration configuration) {
            return Settings.ALL.stream()
                    .map(setting -> new Line(
                            setting.key(),
                            configuration.show(setting),
                            configuration.origin(setting).toString()))
                    .toList();
        }

        private static List<Line> of(JsonNode settings) {
            List<Line> lines = new ArrayList<>();
            settings.forEach(each -> lines.add(new Line(
                    each.path("key").asText(),
                    each.path("value").asText(),
                    each.path("origin").asText())));
            return lines;
        }
    }
}

package io.penstock.cli;

import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.ConfigurationFile;
import io.penstock.settings.Host;
import io.penstock.settings.MountOptionList;
import io.penstock.settings.Setting;
import io.penstock.settings.SettingSource;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;

/** The ways to configure on a command line: {@code --config}, {@code -o}, and an option for every setting. */
final class ConfigurationArguments {
    @Option(
            names = "--config",
            paramLabel = "<file>",
            description = "Configuration file, instead of ~/.config/penstock/penstock.yaml ($XDG_CONFIG_HOME, if set,"
                    + " in place of ~/.config) or /etc/penstock/penstock.yaml.")
    private @Nullable String file;

    @Option(
            names = "-o",
            paramLabel = "<key=value,...>",
            description = "Settings as in fstab: -o cache_size=64GiB,allow_other. Any setting below, with dots or"
                    + " underscores.")
    private List<String> lists = new ArrayList<>();

    /** The settings that {@code --help} shows. */
    private static final List<Setting<?>> MAIN = List.of(
            Settings.ENDPOINT,
            Settings.REGION,
            Settings.PATH_STYLE,
            Settings.CA_FILE,
            Settings.PROFILE,
            Settings.ANONYMOUS,
            Settings.CACHE_DIR,
            Settings.CACHE_SIZE,
            Settings.CACHE_MIN_FREE,
            Settings.MEMORY,
            Settings.METADATA_TTL,
            Settings.READ_ONLY,
            Settings.ALLOW_OTHER,
            WriteSettings.CLOSE,
            Settings.LOG_LEVEL);

    /**
     * Gives the command an option for every setting.
     *
     * @param all whether its help shows all settings, grouped as in the documentation, or only the main ones
     */
    static void addSettings(CommandSpec command, boolean all) {
        command.addOption(OptionSpec.builder("--help-all")
                .usageHelp(true)
                .description("Show this help with all " + Settings.ALL.size() + " settings.")
                .build());
        if (all) {
            Settings.GROUPS.forEach(group -> addSettings(command, group.title(), group.settings(), false));
        } else {
            addSettings(command, "Most important settings (all: --help-all)", MAIN, false);
            List<Setting<?>> others = Settings.ALL.stream()
                    .filter(setting -> !MAIN.contains(setting))
                    .toList();
            addSettings(command, "", others, true);
        }
    }

    private static void addSettings(
            CommandSpec command, String title, List<? extends Setting<?>> settings, boolean hidden) {
        ArgGroupSpec.Builder options = ArgGroupSpec.builder()
                .order(command.argGroups().size())
                .exclusive(false)
                .validate(false)
                .multiplicity("0..1");
        if (!hidden) {
            options.heading("%n" + title + ":%n");
        }
        settings.forEach(setting -> options.addArg(option(setting, hidden)));
        command.addArgGroup(options.build());
    }

    private static OptionSpec option(Setting<?> setting, boolean hidden) {
        String[] names = setting.names().stream().map(name -> "--" + name).toArray(String[]::new);
        String bounds = setting.type().bounds();
        String description = setting.help() + (bounds.isEmpty() ? "" : " Allowed: " + bounds + ".") + " Default: "
                + setting.defaultText() + ".";
        OptionSpec.Builder option = OptionSpec.builder(names)
                .paramLabel(setting.type().label())
                .hidden(hidden)
                .description(description.replace("%", "%%"));
        if (setting.type().isFlag()) {
            return option.type(Boolean.class)
                    .arity("0..1")
                    .fallbackValue("true")
                    .build();
        }
        return option.type(String.class).arity("1").build();
    }

    /** The settings of this bucket, from the command line and the file. */
    Configuration resolve(String bucket, ParseResult parsed, String whereMountOptionsStand)
            throws ConfigurationException {
        Host host = Host.current();
        MountOptionList mountOptions = MountOptionList.parse(lists, whereMountOptionsStand);
        String named = file();
        ConfigurationFile read = ConfigurationFile.find(named == null ? null : host.path(named), host);
        return Configuration.of(host, bucket, settings(parsed), mountOptions.settings(), read);
    }

    /** The configuration file given on the command line; null if none is. */
    @Nullable
    String file() {
        return file != null ? file : MountOptionList.parse(lists, "-o").configurationFile();
    }

    /** An option given on the command line: {@code --config}, {@code -o}, or that of a setting; null if none is. */
    @Nullable
    String given(ParseResult parsed) {
        if (file != null) {
            return "--config";
        } else if (!lists.isEmpty()) {
            return "-o";
        }
        return Settings.ALL.stream()
                .map(setting -> parsed.matchedOption(setting.optionName()))
                .filter(Objects::nonNull)
                .findFirst()
                .map(option -> nameUsed(option, parsed))
                .orElse(null);
    }

    private static SettingSource settings(ParseResult parsed) {
        Map<Setting<?>, String> texts = new LinkedHashMap<>();
        Map<Setting<?>, String> names = new LinkedHashMap<>();
        for (Setting<?> setting : Settings.ALL) {
            OptionSpec option = parsed.matchedOption(setting.optionName());
            if (option != null) {
                texts.put(setting, String.valueOf(option.<Object>getValue()));
                names.put(setting, nameUsed(option, parsed));
            }
        }
        return SettingSource.ofOptions(texts, names);
    }

    private static String nameUsed(OptionSpec option, ParseResult parsed) {
        for (String name : option.names()) {
            if (parsed.originalArgs().stream().anyMatch(arg -> arg.equals(name) || arg.startsWith(name + "="))) {
                return name;
            }
        }
        return option.longestName();
    }
}

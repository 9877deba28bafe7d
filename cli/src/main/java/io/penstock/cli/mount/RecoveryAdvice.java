package io.penstock.cli.mount;

import io.penstock.cli.config.Configuration;
import io.penstock.cli.config.Origin;
import io.penstock.cli.config.Setting;
import io.penstock.cli.config.Settings;
import io.penstock.cli.config.WriteSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The command that shows a mount's written files that could not be uploaded. */
final class RecoveryAdvice {
    /** Always named: their defaults depend on the user who runs the command. */
    private static final List<Setting<?>> FOLDERS = List.of(Settings.CACHE_DIR, WriteSettings.STAGING);

    private RecoveryAdvice() {}

    /** With the settings of the mount, and with its configuration file if any come from one; for a shell. */
    static String command(Target target, Configuration configuration) {
        List<String> words = new ArrayList<>(List.of("penstock", "recover", target.source()));
        for (Setting<?> setting : FOLDERS) {
            if (!(configuration.origin(setting) instanceof Origin.Line)) {
                add(setting, configuration, words);
            }
        }
        for (Setting<?> setting : Settings.ALL) { // a file may be valid only with what else was given
            switch (configuration.origin(setting)) {
                case Origin.Line _, Origin.Default _ -> {}
                case Origin.Option _, Origin.MountOption _, Origin.Variable _ -> {
                    if (!FOLDERS.contains(setting)) {
                        add(setting, configuration, words);
                    }
                }
            }
        }
        Settings.ALL.stream()
                .flatMap(setting -> configuration.origin(setting) instanceof Origin.Line line
                        ? Stream.of(line.file())
                        : Stream.empty())
                .findFirst()
                .ifPresent(file -> words.addAll(List.of("--config", file.toString())));
        return words.stream().map(RecoveryAdvice::quoted).collect(Collectors.joining(" "));
    }

    private static void add(Setting<?> setting, Configuration configuration, List<String> words) {
        String value = configuration.show(setting);
        if (setting.type().isFlag()) {
            words.add(setting.optionName() + "=" + value);
        } else {
            words.addAll(List.of(setting.optionName(), value));
        }
    }

    private static String quoted(String word) {
        return word.matches("[\\w@%+=:,./-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}

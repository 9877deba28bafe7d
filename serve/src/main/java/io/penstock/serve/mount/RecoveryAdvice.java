package io.penstock.serve.mount;

import io.penstock.settings.Configuration;
import io.penstock.settings.Origin;
import io.penstock.settings.Setting;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import io.penstock.settings.process.ShellWord;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The command that shows a mount's written files that could not be uploaded. */
final class RecoveryAdvice {
    /** Always included: their defaults depend on the user who runs the command. */
    private static final List<Setting<?>> FOLDERS = List.of(Settings.CACHE_DIR, WriteSettings.STAGING);

    private RecoveryAdvice() {}

    /** For a shell, with the mount's settings, and with its configuration file if any of them come from one. */
    static String command(Target target, Configuration configuration) {
        Stream<String> options = Stream.concat(FOLDERS.stream(), Settings.ALL.stream())
                .flatMap(setting -> switch (configuration.origin(setting)) {
                    case Origin.Line line ->
                        Stream.of("--config " + ShellWord.of(line.file().toString()));
                    case Origin.Default _ when !FOLDERS.contains(setting) -> Stream.empty();
                    // Also in addition to a file, which may be valid only with these settings.
                    case Origin.Default _, Origin.Option _, Origin.MountOption _, Origin.Variable _, Origin.Profile _ ->
                        Stream.of(setting.optionName()
                                + (setting.type().isFlag() ? "=" : " ")
                                + ShellWord.of(configuration.show(setting)));
                })
                .distinct();
        return Stream.concat(Stream.of("penstock recover " + ShellWord.of(target.source())), options)
                .collect(Collectors.joining(" "));
    }
}

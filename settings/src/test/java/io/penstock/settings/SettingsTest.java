package io.penstock.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

class SettingsTest {
    @SuppressWarnings("UnusedVariable") // FieldSource reads it.
    private static final List<Setting<?>> ALL = Settings.ALL;

    @Test
    void names_ofAllSettings_distinct() {
        List<String> names = Settings.ALL.stream()
                .flatMap(setting -> setting.names().stream())
                .toList();
        assertThat(names).doesNotHaveDuplicates().allMatch(name -> name.matches("[a-z0-9-]+"));
    }

    @Test
    void keys_ofAllSettings_distinctAndNoneIsAnothersGroup() {
        List<String> keys = Settings.ALL.stream().map(Setting::key).toList();
        assertThat(keys).doesNotHaveDuplicates();
        assertThat(keys).noneMatch(key -> keys.stream().anyMatch(other -> other.startsWith(key + ".")));
    }

    @ParameterizedTest
    @FieldSource("ALL")
    void setting_any_foundByKeyAndByEverySpellingInMountOptions(Setting<?> setting) {
        assertThat(Settings.byKey(setting.key())).hasValue(setting);
        assertThat(Settings.byMountOption(setting.key())).hasValue(setting);
        assertThat(Settings.byMountOption(setting.key().replace('.', '-'))).hasValue(setting);
        assertThat(Settings.byMountOption(setting.key().replace('.', '_').replace('-', '_')))
                .hasValue(setting);
        setting.names().forEach(name -> assertThat(Settings.byMountOption(name)).hasValue(setting));
    }

    @ParameterizedTest
    @FieldSource("ALL")
    void setting_any_isDocumented(Setting<?> setting) {
        assertThat(setting.help()).endsWith(".");
        assertThat(SettingsPage.text())
                .contains("#### `" + setting.key() + "`")
                .contains("`" + setting.optionName())
                .contains("- Allowed: " + setting.type().allowed() + "\n- Default: " + setting.defaultText() + "\n");
    }

    @Test
    void configurationPage_inTheRepository_isWhatTheSettingsSay() throws IOException {
        Files.writeString(Path.of("target/CONFIGURATION.md"), SettingsPage.text());

        assertThat(Path.of("../docs/CONFIGURATION.md")).hasContent(SettingsPage.text());
    }
}

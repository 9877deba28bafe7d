package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationFile;
import io.penstock.settings.Host;
import io.penstock.settings.MountOptionList;
import io.penstock.settings.Setting;
import io.penstock.settings.SettingSource;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecoveryAdviceTest {
    private static final Map<String, String> ENVIRONMENT = Map.of("AWS_ENDPOINT_URL", "http://env:9000");

    @Test
    void command_nothingSet_namesTheFolders() throws Exception {
        assertThat(command(Map.of(), Map.of(), "", ConfigurationFile.NONE))
                .isEqualTo("penstock recover s3://data/a --cache /home/ann/.cache/penstock/data"
                        + " --write-staging /home/ann/.local/state/penstock/staging/data");
    }

    @Test
    void command_optionsAndEnvironment_namesThose() throws Exception {
        assertThat(command(
                        ENVIRONMENT,
                        Map.of(WriteSettings.STAGING, "/fast/it's here", Settings.ALLOW_OTHER, "true"),
                        "cache=/fast/cache,region=eu-central-1,anonymous",
                        ConfigurationFile.NONE))
                .isEqualTo("penstock recover s3://data/a --cache /fast/cache --write-staging '/fast/it'\\''s here'"
                        + " --endpoint http://env:9000 --region eu-central-1 --anonymous=true --allow-other=true");
    }

    @Test
    void command_settingsOfAFile_namesTheFileForThem(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("p.yaml"), """
            defaults: {cache: {dir: /fast/cache}, s3: {endpoint: 'http://a:9000', region: here}}
            """);
        assertThat(command(
                        Map.of(), Map.of(Settings.REGION, "there"), "", ConfigurationFile.find(file, Host.current())))
                .isEqualTo("penstock recover s3://data/a --config " + file
                        + " --write-staging /fast/cache/staging --region there");
    }

    private static String command(
            Map<String, String> environment,
            Map<Setting<?>, String> options,
            String mountOptions,
            ConfigurationFile file)
            throws Exception {
        Configuration configuration = Configuration.of(
                new Host(environment, Path.of("/home/ann"), 1000, 1001, 48L << 30, 16),
                "data",
                SettingSource.ofOptions(options, Map.of()),
                MountOptionList.parse(List.of(mountOptions), "-o").settings(),
                file);
        return RecoveryAdvice.command(Target.parse("data/a"), configuration);
    }
}

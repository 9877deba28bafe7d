package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.filesystem.Passthrough;
import io.penstock.filesystem.names.Exclusive;
import io.penstock.filesystem.names.Links;
import io.penstock.filesystem.names.Writing;
import io.penstock.fuse.Binding;
import io.penstock.metadata.PreloadConfig;
import io.penstock.metadata.attributes.KeptAttributes.Keeping;
import io.penstock.objectstore.http.TlsEngine;
import io.penstock.objectstore.s3.S3Config.Checksums;
import io.penstock.objectstore.s3.S3Config.HttpClient;
import io.penstock.objectstore.s3.S3Config.UploadChecksums;
import io.penstock.settings.Configuration;
import io.penstock.settings.Host;
import io.penstock.settings.LogLevel;
import io.penstock.settings.Setting;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import io.penstock.writeback.WritebackConfig.Close;
import io.penstock.writeback.WritebackConfig.Fsync;
import io.penstock.writeback.upload.Uploads.PartSizes;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Settings use no other module, so their words and defaults could differ from those of the modules that use them. */
final class SettingsOfModulesTest {
    private static final Map<Setting<String>, Class<? extends Enum<?>>> CHOICES = Map.ofEntries(
            Map.entry(Settings.CHECKSUMS, Checksums.class),
            Map.entry(Settings.HTTP_CLIENT, HttpClient.class),
            Map.entry(Settings.TLS, TlsEngine.class),
            Map.entry(Settings.PRELOAD, PreloadConfig.Mode.class),
            Map.entry(Settings.ATTRIBUTES, Keeping.class),
            Map.entry(Settings.BINDING, Binding.class),
            Map.entry(Settings.PASSTHROUGH, Passthrough.class),
            Map.entry(Settings.LOG_LEVEL, LogLevel.class),
            Map.entry(WriteSettings.CLOSE, Close.class),
            Map.entry(WriteSettings.FSYNC, Fsync.class),
            Map.entry(WriteSettings.EXCLUSIVE, Exclusive.class),
            Map.entry(WriteSettings.LINKS, Links.class),
            Map.entry(WriteSettings.CHECKSUMS, UploadChecksums.class),
            Map.entry(WriteSettings.PARTS, PartSizes.class));

    @Test
    void choices_areTheConstantsOfTheirTypes() {
        CHOICES.forEach((setting, type) -> {
            List<String> constants = Arrays.stream(type.getEnumConstants())
                    .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                    .toList();
            assertThat(setting.type().allowed().split(", | or "))
                    .as(setting.key())
                    .containsExactlyInAnyOrderElementsOf(constants);
        });
    }

    /** {@link MountPlanTest} checks the other defaults. */
    @Test
    void mostRenamed_isThatOfTheFileSystem() {
        Host host = new Host(Map.of(), Path.of("/root"), 0, 0, 2L << 30, 1);
        assertThat(Configuration.defaults(host, "bucket").get(WriteSettings.MOST_RENAMED))
                .isEqualTo(Writing.MOST_RENAMED);
    }
}

package io.penstock.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationFile;
import io.penstock.settings.Host;
import io.penstock.settings.SettingSource;
import io.penstock.settings.Settings;
import io.penstock.settings.ShareSettings;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class OwnMountTest {
    @Test
    void nested_groupsKeysByWhatIsBeforeTheDot() {
        assertThat(OwnMount.nested(Map.of("memory", "1GiB", "cache.size", "2GiB", "cache.dir", "/nvme/x")))
                .isEqualTo(Map.of("memory", "1GiB", "cache", Map.of("size", "2GiB", "dir", "/nvme/x")));
    }

    @Test
    void texts_ofANodeThatShares_areOfAMountThatDoesNot() throws Exception {
        SettingSource options = SettingSource.ofOptions(
                Map.of(
                        Settings.MEMORY,
                        "1GiB",
                        ShareSettings.PEERS,
                        "bucket",
                        ShareSettings.LISTEN,
                        "10.0.0.1:7420",
                        ShareSettings.INSECURE,
                        "true",
                        ShareSettings.BANDWIDTH,
                        "1GiB"),
                Map.of());
        Configuration configuration = Configuration.of(
                new Host(Map.of(), Path.of("/home/ann"), 1000, 1001, 48L << 30, 8),
                "data",
                options,
                SettingSource.EMPTY,
                ConfigurationFile.NONE);

        assertThat(new OwnMount(Path.of("/nvme/bench")).texts(configuration).keySet())
                .contains("memory", "cache.dir")
                .noneMatch(key -> key.startsWith("share."));
    }
}

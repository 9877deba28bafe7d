package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ServingTest {
    @Test
    void logFile_twoMountsOfABucket_areTwoFiles() {
        Path setting = Path.of("/var/log/penstock/data@{mount}.log");
        assertThat(Serving.logFile(setting, Path.of("/mnt/data"))).hasToString("/var/log/penstock/data@mnt-data.log");
        assertThat(Serving.logFile(setting, Path.of("/mnt/other"))).hasToString("/var/log/penstock/data@mnt-other.log");
        assertThat(Serving.logFile(setting, Path.of("/"))).hasToString("/var/log/penstock/data@root.log");
        assertThat(Serving.logFile(Path.of("/logs/data.log"), Path.of("/mnt/data")))
                .hasToString("/logs/data.log");
    }
}

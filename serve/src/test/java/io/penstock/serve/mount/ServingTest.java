package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServingTest {
    @TempDir
    private Path folder;

    @Test
    void logFile_twoMountsOfABucket_areTwoFiles() {
        Path setting = Path.of("/var/log/penstock/data@{mount}.log");
        assertThat(Serving.logFile(setting, Path.of("/mnt/data"))).hasToString("/var/log/penstock/data@mnt-data.log");
        assertThat(Serving.logFile(setting, Path.of("/mnt/other"))).hasToString("/var/log/penstock/data@mnt-other.log");
        assertThat(Serving.logFile(setting, Path.of("/"))).hasToString("/var/log/penstock/data@root.log");
        assertThat(Serving.logFile(Path.of("/logs/data.log"), Path.of("/mnt/data")))
                .hasToString("/logs/data.log");
    }

    @Test
    void resolveLinks_linkOnTheWay_isFollowedAsFarAsThePathExists() throws IOException {
        Path mountPoint = Files.createDirectory(folder.toRealPath().resolve("mnt"));
        Path link = Files.createSymbolicLink(folder.resolve("nvme"), mountPoint);
        assertThat(Serving.resolveLinks(link.resolve("cache/data"))).isEqualTo(mountPoint.resolve("cache/data"));
        assertThat(Serving.resolveLinks(Path.of("/no/such/folder"))).isEqualTo(Path.of("/no/such/folder"));
    }
}

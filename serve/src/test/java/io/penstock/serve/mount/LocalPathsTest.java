package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalPathsTest {
    @TempDir
    private Path folder;

    @Test
    void resolveLinks_linkOnTheWay_isFollowedAsFarAsThePathExists() throws IOException {
        Path mountPoint = Files.createDirectory(folder.toRealPath().resolve("mnt"));
        Path link = Files.createSymbolicLink(folder.resolve("nvme"), mountPoint);
        assertThat(LocalPaths.resolveLinks(link.resolve("cache/data"))).isEqualTo(mountPoint.resolve("cache/data"));
        assertThat(LocalPaths.resolveLinks(Path.of("/no/such/folder"))).isEqualTo(Path.of("/no/such/folder"));
    }
}

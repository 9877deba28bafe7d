package io.penstock.cli.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MountBoundaryTest {
    @TempDir
    private Path temporary;

    private Path folder;
    private Path mountPoint;

    @BeforeEach
    void makeMountPoint() throws IOException {
        folder = temporary.toRealPath();
        mountPoint = Files.createDirectory(folder.resolve("mnt"));
    }

    private boolean leadsInto(String path) {
        return MountBoundary.leadsInto(folder.resolve(path), mountPoint);
    }

    @Test
    void leadsInto_plainPaths_thoseAtAndBelowTheMountPoint() {
        assertThat(leadsInto("mnt")).isTrue();
        assertThat(leadsInto("mnt/a/b")).isTrue();
        assertThat(leadsInto("other/../mnt/a")).isTrue();
        assertThat(leadsInto("mnt2/a")).isFalse();
        assertThat(leadsInto("absent/a")).isFalse();
    }

    @Test
    void leadsInto_linksOnTheWay_areFollowed() throws IOException {
        Files.createDirectory(folder.resolve("sub"));
        Files.createSymbolicLink(folder.resolve("sub/relative"), Path.of("../mnt/a"));
        Files.createSymbolicLink(folder.resolve("absolute"), folder.resolve("sub/relative"));
        Files.createSymbolicLink(folder.resolve("elsewhere"), folder.resolve("sub"));
        assertThat(leadsInto("absolute/b")).isTrue();
        assertThat(leadsInto("elsewhere/relative")).isTrue();
        assertThat(leadsInto("elsewhere/other")).isFalse();
        assertThat(leadsInto("elsewhere/../mnt")).isTrue();
    }

    /** A lookup there would wait for this process. */
    @Test
    void leadsInto_aLinkInTheMount_isNotLookedUp() throws IOException {
        Files.createSymbolicLink(mountPoint.resolve("out"), folder);
        Files.createSymbolicLink(folder.resolve("in"), mountPoint.resolve("out"));
        assertThat(leadsInto("mnt/out/file")).isTrue();
        assertThat(leadsInto("in/file")).isTrue();
    }

    @Test
    void leadsInto_linksInACircle_ends() throws IOException {
        Files.createSymbolicLink(folder.resolve("a"), Path.of("b"));
        Files.createSymbolicLink(folder.resolve("b"), Path.of("a"));
        assertThat(leadsInto("a/file")).isFalse();
    }
}

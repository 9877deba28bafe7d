package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
        return MountBoundary.leadsInto(folder.resolve(path), List.of(mountPoint));
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

    /** A program that follows it enters the mount. */
    @Test
    void leadsInto_andOutAgain_isTrue() throws IOException {
        Files.createSymbolicLink(folder.resolve("through"), Path.of("mnt/../other"));
        assertThat(leadsInto("mnt/../other")).isTrue();
        assertThat(leadsInto("through/file")).isTrue();
    }

    private Path resolve(String path) {
        return MountBoundary.resolve(folder.resolve(path), List.of(folder.resolve("unused"), mountPoint));
    }

    @Test
    void resolve_aLinkToTheMountOrIntoIt_isThePathBelowTheMountPoint() throws IOException {
        Files.createDirectory(mountPoint.resolve("train"));
        Files.createSymbolicLink(mountPoint.resolve("link"), Path.of("train"));
        Files.createSymbolicLink(folder.resolve("data"), mountPoint);
        Files.createSymbolicLink(folder.resolve("train"), Path.of("mnt/train"));

        assertThat(resolve("data")).isEqualTo(mountPoint);
        assertThat(resolve("data/train/*.tar")).isEqualTo(mountPoint.resolve("train/*.tar"));
        assertThat(resolve("train/a")).isEqualTo(mountPoint.resolve("train/a"));
        assertThat(resolve("mnt/link/a"))
                .as("the mount looks up its own links")
                .isEqualTo(mountPoint.resolve("link/a"));
        assertThat(resolve("none/a")).isEqualTo(folder.resolve("none/a"));
    }

    /** A mount that hangs would not answer. */
    @Test
    void resolve_aLinkToALinkInTheMount_isNotLookedUpThere() throws IOException {
        Files.createSymbolicLink(mountPoint.resolve("out"), folder);
        Files.createSymbolicLink(folder.resolve("in"), mountPoint.resolve("out"));
        Files.createSymbolicLink(folder.resolve("up"), Path.of("mnt/out/../b"));

        assertThat(resolve("in/file")).isEqualTo(mountPoint.resolve("out/file"));
        assertThat(resolve("up")).isEqualTo(mountPoint.resolve("b"));
    }

    /** It may be a link to another mount. */
    @Test
    void resolve_outOfTheMountAgain_goesOnByTheLinksThere() throws IOException {
        Path other = Files.createDirectory(folder.resolve("other"));
        Files.createSymbolicLink(folder.resolve("b"), other);
        Files.createSymbolicLink(folder.resolve("through"), Path.of("mnt/../b"));
        Files.createSymbolicLink(folder.resolve("circle"), Path.of("mnt/../circle"));

        assertThat(resolve("through")).isEqualTo(other);
        assertThat(resolve("mnt/a/../../b/c")).isEqualTo(other.resolve("c"));
        assertThat(resolve("mnt/../b/../mnt/a")).isEqualTo(mountPoint.resolve("a"));
        assertThat(resolve("circle/a")).isEqualTo(folder.resolve("circle/a"));
    }

    @Test
    void around_mountsInMounts_isTheInnermost() {
        Path inner = mountPoint.resolve("inner");
        List<Path> mountPoints = List.of(mountPoint, inner);

        assertThat(MountBoundary.around(inner, mountPoints)).hasValue(inner);
        assertThat(MountBoundary.around(inner.resolve("a"), mountPoints)).hasValue(inner);
        assertThat(MountBoundary.around(mountPoint.resolve("a"), mountPoints)).hasValue(mountPoint);
        assertThat(MountBoundary.around(folder, mountPoints)).isEmpty();
    }

    @Test
    void resolve_inNoMount_hasNoLinks() throws IOException {
        Files.createDirectory(folder.resolve("sub"));
        Files.createSymbolicLink(folder.resolve("elsewhere"), folder.resolve("sub"));

        assertThat(resolve("elsewhere/a")).isEqualTo(folder.resolve("sub/a"));
    }

    @Test
    void leadsInto_linksInACircle_ends() throws IOException {
        Files.createSymbolicLink(folder.resolve("a"), Path.of("b"));
        Files.createSymbolicLink(folder.resolve("b"), Path.of("a"));
        assertThat(leadsInto("a/file")).isFalse();
    }
}

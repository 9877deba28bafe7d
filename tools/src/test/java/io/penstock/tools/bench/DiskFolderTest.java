package io.penstock.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.settings.process.RefusedException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskFolderTest {
    @TempDir
    private Path folder;

    @Test
    void besideCache_cacheExists_isNotInIt() throws Exception {
        Path cache = Files.createDirectory(folder.resolve("cache"));
        DiskFolder made = DiskFolder.besideCache(cache);
        assertThat(made.path()).isDirectory().hasParent(folder.toRealPath());
        Files.createDirectories(made.path().resolve("a/b"));
        made.remove();
        assertThat(cache).isEmptyDirectory();
        assertThat(folder).isDirectoryNotContaining(path -> path.toString().contains(DiskFolder.PREFIX));
    }

    @Test
    void besideCache_cacheDoesNotExist_isWhereItWouldBe() throws Exception {
        DiskFolder made = DiskFolder.besideCache(folder.resolve("none/cache"));
        assertThat(made.path()).hasParent(folder.toRealPath());
        assertThat(folder.resolve("none")).doesNotExist();
        made.remove();
    }

    @Test
    void besideCache_thereIsAFile_saysSo() throws Exception {
        Path file = Files.createFile(folder.resolve("cache"));
        assertThatThrownBy(() -> DiskFolder.besideCache(file))
                .isInstanceOf(RefusedException.class)
                .hasMessage("the disk of the cache folder " + file + " cannot be used: " + file
                        + " is not a folder; choose another folder with --cache");
    }

    @Test
    void requireRoom_less_saysHowMuchThereIs() throws Exception {
        DiskFolder.requireRoom(folder, 1, "");
        assertThatThrownBy(() -> DiskFolder.requireRoom(folder, Long.MAX_VALUE, "use a smaller --size"))
                .isInstanceOf(RefusedException.class)
                .hasMessageMatching("the benchmark needs .* on the disk of " + folder
                        + ", but only .* are free; use a smaller --size");
    }
}

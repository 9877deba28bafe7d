package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FileNamesTest {
    @TempDir
    private Path folder;

    private List<Path> files;

    @BeforeEach
    void makeFiles() throws Exception {
        files = List.of(folder.resolve("a"), folder.resolve("b"), folder.resolve("c"));
        for (Path file : files) {
            Files.writeString(file, "old");
        }
    }

    @Test
    void rename_ofEachFile_isMadeOnce() throws Exception {
        List<Path> targets = List.of(folder.resolve("x"), folder.resolve("y"), folder.resolve("z"));
        assertThat(FileNames.rename(files, targets, 2).operations()).isEqualTo(3);
        assertThat(files).noneMatch(Files::exists);
        assertThat(targets).allMatch(Files::exists);
    }

    @Test
    void renameDealt_ofEachFile_isMadeOnce() throws Exception {
        List<Path> targets = List.of(folder.resolve("x"), folder.resolve("y"), folder.resolve("z"));
        assertThat(FileNames.renameDealt(files, targets, 2).operations()).isEqualTo(3);
        assertThat(files).noneMatch(Files::exists);
        assertThat(targets).allMatch(Files::exists);
    }

    @Test
    void unlink_ofEachFile_leavesTheFolder() throws Exception {
        assertThat(FileNames.unlink(files, folder, 2).operations()).isEqualTo(3);
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void unlink_ofAFileThatIsMissing_isRefused() {
        List<Path> missing = List.of(folder.resolve("none"));
        assertThatThrownBy(() -> FileNames.unlink(missing, folder, 1)).isInstanceOf(NoSuchFileException.class);
    }

    @ParameterizedTest
    @EnumSource
    void replace_ofEachFile_leavesTheNewOnesAlone(FileNames.Rename order) throws Exception {
        assertThat(FileNames.replace(files, 100, order, 2).operations()).isEqualTo(3);
        assertThat(folder).isDirectoryNotContaining(file -> !files.contains(file));
        assertThat(files).allSatisfy(file -> assertThat(file).hasSize(100));
    }
}

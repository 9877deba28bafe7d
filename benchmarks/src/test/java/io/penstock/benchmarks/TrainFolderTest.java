package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainFolderTest {
    private static final TrainData DATA = new TrainData(TrainModel.RETINANET, 3);

    @TempDir
    private Path root;

    private TrainFolder folder(boolean keep) {
        return new TrainFolder(root, OptionalLong.empty(), keep);
    }

    @Test
    void provide_inAnEmptyFolder_writesFilesThatCloseRemoves() throws Exception {
        try (TrainFolder folder = folder(false)) {
            folder.provide(DATA);
            assertThat(folder.files(DATA))
                    .hasSize(3)
                    .allMatch(file -> file.toFile().length() == 322_957);
        }
        assertThat(root).isEmptyDirectory();
    }

    @Test
    void close_leavesWhatWasThere() throws Exception {
        Path there = Files.createDirectories(root.resolve(DATA.folder())).resolve("0000001.jpeg");
        Files.writeString(there, "of the user");
        try (TrainFolder folder = folder(false)) {
            folder.provide(DATA);
            assertThat(folder.files(DATA)).hasSize(3);
        }
        assertThat(there).hasContent("of the user");
        assertThat(there.resolveSibling(".")).isDirectoryNotContaining("glob:**0000000*");
    }

    @Test
    void provide_whereOthersHaveGeneratedFiles_usesThem() throws Exception {
        Path train = Files.createDirectories(root.resolve(DATA.folder()));
        for (int i = 0; i < 4; i++) {
            Files.writeString(train.resolve("img_" + i + "_of_4.jpeg"), "x");
        }
        try (TrainFolder folder = folder(false)) {
            folder.provide(DATA);
            assertThat(folder.files(DATA))
                    .extracting(Path::getFileName)
                    .hasSize(3)
                    .startsWith(Path.of("img_0_of_4.jpeg"));
        }
    }

    @Test
    void keep_leavesTheFilesForAnotherRun() throws Exception {
        try (TrainFolder folder = folder(true)) {
            folder.provide(DATA);
        }
        assertThat(root.resolve(DATA.folder())).isDirectoryContaining("glob:**0000002.jpeg");
    }

    @Test
    void files_ofTooFew_isAnErrorThatCountsThem() {
        assertThatThrownBy(() -> folder(false).files(DATA)).hasMessageContaining("has 0 of 3 files");
    }

    @Test
    void checkpoints_areRemovedWhenTheyEnd() throws Exception {
        try (TrainFolder folder = folder(false)) {
            Path written = folder.checkpoints();
            try (TrainCheckpoints checkpoints = new TrainCheckpoints(written, 1_000_000)) {
                assertThat(checkpoints.describe()).endsWith("of checkpoints");
            }
            assertThat(root).isEmptyDirectory();
        }
    }

    @Test
    void checkpoints_thatCannotBeWritten_fail() {
        TrainCheckpoints checkpoints = new TrainCheckpoints(root.resolve("not there"), 1_000_000);
        assertThatThrownBy(() -> awaitFailure(checkpoints))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("checkpoint");
    }

    /** If closed immediately, it might not have started. */
    private static void awaitFailure(TrainCheckpoints checkpoints) throws IOException {
        while (!checkpoints.hasEnded()) {
            Thread.onSpinWait();
        }
        checkpoints.close();
    }
}

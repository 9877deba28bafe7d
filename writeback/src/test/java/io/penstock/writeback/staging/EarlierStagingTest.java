package io.penstock.writeback.staging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.penstock.disk.DataFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an earlier version staged elsewhere is found. */
final class EarlierStagingTest {
    private static final String DATA = "0123456789abcdef.data";
    private static final String JOURNAL = "0123456789abcdef.journal";

    @TempDir
    Path directory;

    private Path earlier() throws IOException {
        Path earlier = Files.createDirectories(directory.resolve("cache/staging"));
        Files.writeString(earlier.resolve("lock"), "4711\n");
        return earlier;
    }

    private Path earlierWithAFile() throws IOException {
        Path earlier = earlier();
        Files.writeString(earlier.resolve(DATA), "data");
        Files.writeString(earlier.resolve(JOURNAL), "journal");
        return earlier;
    }

    private static List<String> taken(Path earlier, Path present) throws IOException {
        try (DataFolder files = EarlierStaging.takeOver(earlier, StagingFolder.open(present), present)) {
            return files.names().stream()
                    .map(name -> files.path(name).toString())
                    .toList();
        }
    }

    @Test
    void takeOver_onOneFileSystem_movesAll() throws Exception {
        Path earlier = earlierWithAFile();
        Path present = directory.resolve("state");
        assertThat(taken(earlier, present))
                .containsExactly(
                        present.resolve(DATA).toString(),
                        present.resolve(JOURNAL).toString());
        assertThat(earlier.resolve(DATA)).doesNotExist();
        assertThat(earlier.resolve(JOURNAL)).doesNotExist();
        assertThat(present.resolve(DATA)).content().isEqualTo("data");
    }

    @Test
    void takeOver_onTwoFileSystems_goesOnWhereItIs() throws Exception {
        Path other = Path.of("/dev/shm");
        assumeThat(other).isDirectory();
        assumeThat(Files.getFileStore(other)).isNotEqualTo(Files.getFileStore(directory));
        Path earlier = earlierWithAFile();
        Path present = Files.createTempDirectory(other, "penstock-test-");
        try {
            assertThat(taken(earlier, present))
                    .containsExactly(
                            earlier.resolve(DATA).toString(),
                            earlier.resolve(JOURNAL).toString());
        } finally {
            Files.delete(present.resolve("lock"));
            Files.delete(present.resolve("PENSTOCK.txt"));
            Files.delete(present);
        }
    }

    @Test
    void takeOver_ofAnEmptyFolder_leavesItAsItIs() throws Exception {
        Path earlier = earlier();
        assertThat(taken(earlier, directory.resolve("state"))).isEmpty();
        assertThat(taken(directory.resolve("none"), directory.resolve("state"))).isEmpty();
        assertThat(earlier.resolve("PENSTOCK.txt")).doesNotExist();
    }
}

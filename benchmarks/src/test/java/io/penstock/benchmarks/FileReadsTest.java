package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.tools.measure.Measurement;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileReadsTest {
    @TempDir
    private Path folder;

    private Path file(String name, int size) throws IOException {
        return Files.write(folder.resolve(name), new byte[size]);
    }

    @Test
    void whole_ofEachFile_countsThemAll() throws Exception {
        Measurement run = FileReads.whole(List.of(file("a", 10), file("b", 10), file("c", 10)), 10, 2);
        assertThat(run.bytes()).isEqualTo(30);
        assertThat(run.operations()).isEqualTo(3);
    }

    @Test
    void whole_ofAFileOfAnotherSize_isRefused() throws Exception {
        for (int size : List.of(9, 11)) {
            List<Path> files = List.of(file("a", size));
            assertThatThrownBy(() -> FileReads.whole(files, 10, 1))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("instead of 10");
        }
    }

    @Test
    void blocks_ofSeveralFiles_areReadOnceEach() throws Exception {
        Path a = file("a", 10);
        Path b = file("b", 10);
        List<FileReads.Block> blocks =
                List.of(new FileReads.Block(a, 6), new FileReads.Block(b, 0), new FileReads.Block(a, 2));
        Measurement run = FileReads.blocks(blocks, 4, 2);
        assertThat(run.bytes()).isEqualTo(12);
        assertThat(run.operations()).isEqualTo(3);
    }

    @Test
    void blocks_afterTheEnd_areRefused() throws Exception {
        List<FileReads.Block> blocks = List.of(new FileReads.Block(file("a", 10), 8));
        assertThatThrownBy(() -> FileReads.blocks(blocks, 4, 1)).isInstanceOf(EOFException.class);
    }

    @Test
    void parts_ofSeveralCalls_areReadToTheirEnd() throws Exception {
        Path a = file("a", 16);
        Measurement run = FileReads.parts(List.of(new FileReads.Block(a, 8), new FileReads.Block(a, 0)), 8, 2, 2);
        assertThat(run.bytes()).isEqualTo(16);
        assertThat(run.operations()).isEqualTo(8);
    }

    @Test
    void parts_thatReachBeyondTheEnd_areRefused() throws Exception {
        List<FileReads.Block> parts = List.of(new FileReads.Block(file("a", 10), 4));
        assertThatThrownBy(() -> FileReads.parts(parts, 8, 2, 1)).isInstanceOf(EOFException.class);
    }

    @Test
    void interleaved_overSeveralStreams_readsAll() throws Exception {
        Measurement run = FileReads.interleaved(file("a", 96), 96, 4, 8, 4);
        assertThat(run.bytes()).isEqualTo(96);
        assertThat(run.operations()).isEqualTo(24);
    }

    @Test
    void interleaved_inAFileThatIsTooShort_isRefused() throws Exception {
        Path file = file("a", 90);
        assertThatThrownBy(() -> FileReads.interleaved(file, 96, 4, 8, 4)).isInstanceOf(EOFException.class);
    }

    @Test
    void attributes_ofEachFile_areAskedForOnce() throws Exception {
        Measurement run = FileReads.attributes(List.of(file("a", 1), file("b", 0), file("c", 1)), 2);
        assertThat(run.operations()).isEqualTo(3);
    }

    @Test
    void attributes_ofAFileThatIsMissing_areRefused() {
        List<Path> files = List.of(folder.resolve("none"));
        assertThatThrownBy(() -> FileReads.attributes(files, 1)).isInstanceOf(NoSuchFileException.class);
    }
}

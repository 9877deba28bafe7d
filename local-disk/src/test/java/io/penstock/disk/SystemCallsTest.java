package io.penstock.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SystemCallsTest {
    private static final byte[] CONTENT = new byte[1 << 20];

    @TempDir
    private Path folder;

    /** Bytes of the file in the kernel's memory, from fincore(1) of util-linux; -1 if that is missing. */
    private static long cached(Path file) throws Exception {
        try {
            Process fincore = new ProcessBuilder("fincore", "-bnr", "-o", "RES", file.toString())
                    .redirectErrorStream(true)
                    .start();
            String said = new String(fincore.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return fincore.waitFor() == 0 ? Long.parseLong(said.strip()) : -1;
        } catch (IOException e) {
            return -1;
        }
    }

    @Test
    void dropPages_ofASyncedFile_leavesNoneInMemory() throws Exception {
        assumeTrue(!Files.getFileStore(folder).type().equals("tmpfs"), "tmpfs has its files in memory only");
        Path file = folder.resolve("file");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(CONTENT));
            channel.force(true);
        }
        assumeTrue(cached(file) == CONTENT.length, "without fincore there is nothing to see");

        SystemCalls.dropPages(file);

        assertThat(cached(file)).isZero();
        assertThat(file).hasBinaryContent(CONTENT);
    }

    @Test
    void dropPages_noSuchFile_namesIt() {
        Path none = folder.resolve("none");
        assertThatThrownBy(() -> SystemCalls.dropPages(none))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessage(none.toString());
    }
}

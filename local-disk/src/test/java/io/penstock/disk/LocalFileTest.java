package io.penstock.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class LocalFileTest {
    private static final byte[] CONTENT = new byte[100_000];

    @TempDir
    private Path folder;

    private Path path;

    @BeforeEach
    void create() throws IOException {
        for (int i = 0; i < CONTENT.length; i++) {
            CONTENT[i] = (byte) (i * 31);
        }
        path = Files.write(folder.resolve("file"), CONTENT);
    }

    private static void readAll(LocalFile file) throws IOException {
        ByteBuffer read = ByteBuffer.allocate(CONTENT.length);
        assertThat(file.read(0, read)).isEqualTo(CONTENT.length);
        assertThat(read.flip()).isEqualTo(ByteBuffer.wrap(CONTENT));
    }

    @Test
    void rest_givesTheDescriptorsBack_untilTheNextTransfer() throws IOException {
        try (LocalFile file = new LocalFile(path, false)) {
            readAll(file);
            file.rest();
            Path moved = Files.move(path, folder.resolve("moved"));
            assertThatThrownBy(() -> readAll(file)).isInstanceOf(NoSuchFileException.class);
            Files.move(moved, path);
            readAll(file);
        }
    }

    @Test
    void rest_whileOthersRead_disturbsNone() throws Exception {
        try (LocalFile file = new LocalFile(path, false);
                ExecutorService threads = Executors.newFixedThreadPool(4)) {
            Future<?>[] readers = new Future<?>[4];
            for (int i = 0; i < readers.length; i++) {
                readers[i] = threads.submit(() -> {
                    for (int read = 0; read < 2000; read++) {
                        readAll(file);
                    }
                    return null;
                });
            }
            for (int rest = 0; rest < 2000; rest++) {
                file.rest();
            }
            for (Future<?> reader : readers) {
                reader.get();
            }
        }
    }

    /** An interrupted transfer may be complete: its bytes count, and none may be moved twice. */
    @Test
    void readAndWrite_interruptedRepeatedly_moveAllBytes() throws Exception {
        Path copy = Files.createFile(folder.resolve("copy"));
        try (LocalFile file = new LocalFile(path, false);
                LocalFile written = new LocalFile(copy, false)) {
            FutureTask<Boolean> transfers = new FutureTask<>(() -> {
                for (int round = 0; round < 3000; round++) {
                    readAll(file);
                    written.write(0, ByteBuffer.wrap(CONTENT));
                }
                return true;
            });
            Thread thread = Thread.ofPlatform().start(transfers);
            while (!transfers.isDone()) {
                thread.interrupt();
            }
            assertThat(transfers.get()).isTrue();
            readAll(written);
            assertThat(Files.size(copy)).isEqualTo(CONTENT.length);
        }
    }

    @Test
    void read_afterClose_isAnError() throws IOException {
        LocalFile file = new LocalFile(path, false);
        file.rest();
        file.close();
        assertThatThrownBy(() -> readAll(file)).hasMessageContaining("used after it was closed");
    }
}

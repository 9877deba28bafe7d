package io.penstock.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ConnectException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class DemoFolderTest {
    private static final Path FOLDER = Path.of("/t/penstock-demo-1");

    @Test
    void refused_theFolderOrItsDisk_namesTheVariable() {
        assertThat(message(new AccessDeniedException(FOLDER + "/cache")))
                .startsWith("permission denied: " + FOLDER + "/cache (temporary files are in ")
                .endsWith("; set TMPDIR to another folder)");
        assertThat(message(new IOException("No space left on device"))).contains("TMPDIR");
    }

    @Test
    void refused_anythingElse_isTheReasonAlone() {
        assertThat(message(new ConnectException("Connection refused"))).isEqualTo("Connection refused");
        assertThat(message(new NoSuchFileException("/dev/fuse"))).isEqualTo("no such file: /dev/fuse");
        assertThat(message(new ClosedChannelException())).isEqualTo("java.nio.channels.ClosedChannelException");
    }

    private static String message(IOException e) {
        return String.valueOf(DemoFolder.refused(FOLDER, e).getMessage());
    }
}

package io.penstock.fuse;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PreflightTest {
    @TempDir
    private Path folder;

    @Test
    void check_missingMountPoint_saysToCreateIt() {
        assertRefused(folder.resolve("absent"), "does not exist", "mkdir -p");
    }

    @Test
    void check_file_isNoDirectory() throws IOException {
        assertRefused(Files.createFile(folder.resolve("file")), "is not a directory");
    }

    @Test
    void check_directoryWithAFile_isNotEmpty() throws IOException {
        Files.createFile(folder.resolve("file"));

        assertRefused(folder, "is not empty");
    }

    @Test
    void check_mountPointOfAnother_namesIt() {
        assertRefused(Path.of("/proc"), "already mounted", "type proc");
    }

    private static void assertRefused(Path mountPoint, String... words) {
        MountOptions options = new MountOptions(
                mountPoint, "s3://bucket", true, false, false, Duration.ofSeconds(1), 0, 1, null, false);
        assertThatThrownBy(() -> Preflight.check(options))
                .isInstanceOf(MountException.class)
                .message()
                .contains(words)
                .contains(mountPoint.toString());
    }
}

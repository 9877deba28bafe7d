package io.penstock.fuse.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Descriptors of the test itself and of a child, for a file on a disk. */
@Timeout(20)
final class DescriptorsTest {
    private static final long HANDLE = 7;
    private static final int SELF = (int) ProcessHandle.current().pid();
    private static final int NOBODY = 0;
    private static final String PATH = "/folder/file";

    @TempDir
    private Path folder;

    private Path file;
    private long inode;
    private Descriptors descriptors;
    private Process child;

    @BeforeEach
    void start() throws Exception {
        file = Files.createFile(folder.resolve("file"));
        inode = (long) Files.getAttribute(file, "unix:ino");
        descriptors = new Descriptors(device(file));
        child = new ProcessBuilder("bash", "-c", "exec 3>file; echo open; read; exec 3>&-; echo closed; read")
                .directory(folder.toFile())
                .start();
        assertThat(child.inputReader().readLine()).isEqualTo("open");
    }

    @AfterEach
    void end() {
        child.destroyForcibly();
    }

    @Test
    void areLeft_openForWriting_untilItIsClosed() throws Exception {
        try (var _ = new FileOutputStream(file.toFile())) {
            assertThat(descriptors.areLeft(HANDLE, SELF, inode, PATH)).isTrue();
        }
        assertThat(descriptors.areLeft(HANDLE, SELF, inode, PATH)).isFalse();
    }

    @Test
    void areLeft_openForReading_false() throws Exception {
        try (var _ = new FileInputStream(file.toFile())) {
            assertThat(descriptors.areLeft(HANDLE, SELF, inode, PATH)).isFalse();
        }
    }

    @Test
    void areLeft_fileOfThatInodeOfAnotherMount_false() throws Exception {
        try (var _ = new FileOutputStream(file.toFile())) {
            assertThat(new Descriptors("0:0").areLeft(HANDLE, SELF, inode, PATH))
                    .isFalse();
        }
    }

    @Test
    void areLeft_openInTheProcessThatOpenedIt_untilItCloses() throws Exception {
        assertThat(descriptors.areLeft(HANDLE, SELF, inode, PATH)).isFalse();

        descriptors.opened(HANDLE, (int) child.pid());
        assertThat(descriptors.areLeft(HANDLE, SELF, inode, PATH)).isTrue();
        assertThat(descriptors.areLeft(HANDLE + 1, SELF, inode, PATH)).isFalse();

        child.outputWriter().append('\n').flush();
        assertThat(child.inputReader().readLine()).isEqualTo("closed");
        assertThat(descriptors.areLeft(HANDLE, SELF, inode, PATH)).isFalse();
    }

    @Test
    void areLeft_fileOfAnotherName_false() throws Exception {
        try (var _ = new FileOutputStream(file.toFile())) {
            assertThat(descriptors.areLeft(HANDLE, SELF, inode, "/folder/other"))
                    .isFalse();
            assertThat(descriptors.areLeft(HANDLE, SELF, inode, null)).isTrue();
        }
    }

    /** Like the children of a daemon: their opener has ended, and they close what it left to the daemon. */
    @Test
    void areLeft_openInTheParentOfTheClosingProcess_true() throws Exception {
        int ended = Integer.MAX_VALUE;
        descriptors.opened(HANDLE, ended);
        Process closer = new ProcessBuilder("sleep", "100").start();
        try (var _ = new FileOutputStream(file.toFile())) {
            assertThat(descriptors.areLeft(HANDLE, (int) closer.pid(), inode, PATH))
                    .isTrue();
        } finally {
            closer.destroyForcibly();
        }
    }

    @Test
    void areLeft_openerHasReleasedTheHandle_false() {
        descriptors.opened(HANDLE, (int) child.pid());
        descriptors.released(HANDLE);
        assertThat(descriptors.areLeft(HANDLE, SELF, inode, PATH)).isFalse();
    }

    @Test
    void areLeft_unknownProcess_false() {
        assertThat(descriptors.areLeft(HANDLE, NOBODY, inode, PATH)).isFalse();
    }

    /** As in /proc/PID/mountinfo. */
    private static String device(Path file) throws Exception {
        var stat = new ProcessBuilder("stat", "-c", "%Hd:%Ld", file.toString()).start();
        return stat.inputReader().readLine();
    }
}

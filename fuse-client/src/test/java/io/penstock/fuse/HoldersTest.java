package io.penstock.fuse;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HoldersTest {
    private static final Path MOUNT_POINT = Path.of("/mnt/x");
    private static final String ELSEWHERE = "/nowhere/at/all";

    @TempDir
    private Path proc;

    @BeforeEach
    void otherProcesses() throws IOException {
        Files.createDirectory(proc.resolve("self"));
        process(1, "init", ELSEWHERE);
        process(2, "neighbour", "/mnt/xy");
        Files.createDirectory(proc.resolve("3")); // a process that shows nothing
    }

    @Test
    void describe_nobody_saysWhatToTry() {
        assertThat(describe()).contains("wait for the store", "fuser -vm /mnt/x");
    }

    @Test
    void describe_workingDirectory_namesProcessAndPath() throws IOException {
        process(17, "bash", "/mnt/x/a b");

        assertThat(describe()).isEqualTo("bash (pid 17) has its working directory there: /mnt/x/a b");
    }

    @Test
    void describe_openFile_namesProcessAndPath() throws IOException {
        Path fds = Files.createDirectory(process(18, "tail", ELSEWHERE).resolve("fd"));
        Files.createSymbolicLink(fds.resolve("0"), Path.of(ELSEWHERE));
        Files.createSymbolicLink(fds.resolve("3"), Path.of("/mnt/x/log"));

        assertThat(describe()).isEqualTo("tail (pid 18) has open /mnt/x/log");
    }

    @Test
    void describe_mappedFile_namesProcessAndPath() throws IOException {
        Files.writeString(process(19, "python3", ELSEWHERE).resolve("maps"), """
            7f0000000000-7f0000001000 rw-p 00000000 00:00 0
            7f0000001000-7f0000002000 r--s 00000000 00:27 12                         /mnt/x/größe model
            """);

        assertThat(describe()).isEqualTo("python3 (pid 19) has mapped /mnt/x/größe model");
    }

    @Test
    void describe_moreThanFit_saysHowManyMore() throws IOException {
        for (int pid = 100; pid < 107; pid++) {
            process(pid, "reader", "/mnt/x");
        }

        assertThat(describe()).endsWith("; and 2 more");
    }

    private String describe() {
        return new Holders(proc).describe(MOUNT_POINT);
    }

    private Path process(int pid, String command, String workingDirectory) throws IOException {
        Path process = Files.createDirectory(proc.resolve(Integer.toString(pid)));
        Files.writeString(process.resolve("comm"), command + "\n");
        Files.createSymbolicLink(process.resolve("cwd"), Path.of(workingDirectory));
        return process;
    }
}

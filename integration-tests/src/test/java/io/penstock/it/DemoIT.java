package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The demo, as a user runs it. */
final class DemoIT {
    private static final int END_SECONDS = 60;

    @TempDir
    private Path scratch;

    private List<String> demo(String... options) {
        // As a shell starts programs in the foreground: in the background SIGINT is ignored.
        List<String> command = new ArrayList<>(List.of("env", "--default-signal=INT", "TMPDIR=" + scratch));
        command.addAll(MountedBucket.penstock());
        command.add("demo");
        command.addAll(List.of(options));
        return command;
    }

    @Tag("long")
    @Test
    @Timeout(240)
    void demo_readsAndWritesAndLeavesNothing() throws IOException {
        String said = Program.run(scratch, demo()).orThrow();
        assertThat(said)
                .contains("All bytes read match the bucket, and all bytes written are in it.")
                .containsPattern("\\n  [1-9][0-9]+ kinds, modes, times and targets compared with those of the copy\n")
                .containsPattern("Neither program noticed|Mounts end with their process here")
                .doesNotContain("DIFFER", "WARN");
        assertNothingLeft();
    }

    @Tag("long")
    @Test
    @Timeout(240)
    void demo_ofManyObjects_findsThemAllAndLeavesNothing() throws IOException {
        String said = Program.run(scratch, demo("--objects", "23000")).orThrow();
        assertThat(said)
                .contains("23,000 objects in 3 folders, up to imgs/00002/000022999.jpg")
                .contains("\n  23,000 objects in ", " requests\n", "\n  23000\n")
                .contains("All names exist, and the bytes read match the server's.")
                .doesNotContain("DIFFERS");
        assertNothingLeft();
    }

    @Tag("long")
    @Test
    @Timeout(240)
    void demo_ofThreeNodes_fetchesOnceAndLeavesNothing() throws IOException {
        String said = Program.run(scratch, demo("--nodes", "3")).orThrow();
        assertThat(said).contains("They have found each other:", "The store sent ", "All bytes read match the bucket.");
        assertNothingLeft();
    }

    @Test
    @Timeout(240)
    void interrupt_whileAllIsListed_unmountsAndLeavesNothing() throws Exception {
        Process process = new ProcessBuilder(demo("--objects", "100000000"))
                .directory(Path.of("/").toFile())
                .redirectErrorStream(true)
                .start();
        try (BufferedReader said = process.inputReader(StandardCharsets.UTF_8)) {
            String line = said.readLine();
            while (line != null && !line.contains(" objects, ")) {
                line = said.readLine();
            }
            assertThat(line).as("progress").isNotNull();
            Program.shell(scratch, "kill -INT \"$1\"", process.pid()).orThrow();
            assertThat(said.lines())
                    .filteredOn(each -> each.contains("internal error"))
                    .isEmpty();
            assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.exitValue()).isEqualTo(128 + 2);
        assertNothingLeft();
    }

    private void assertNothingLeft() throws IOException {
        assertThat(scratch).isEmptyDirectory();
        assertThat(Files.readAllLines(Path.of("/proc/self/mountinfo")))
                .noneMatch(line -> line.contains(scratch.toString()));
    }
}

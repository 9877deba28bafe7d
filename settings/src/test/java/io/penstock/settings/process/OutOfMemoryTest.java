package io.penstock.settings.process;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** bin/lib/out-of-memory, for a process that has these files open. */
@Timeout(60)
class OutOfMemoryTest {
    private static final String MESSAGES = "2026-11-25T17:18:00.123Z INFO  [main] Serving: mounted\n";
    private static final String CALLS = "2026-11-25T17:18:00.123Z lookup - 0 OK 41 /train/ERROR\n";
    private static final String GAP = "2026-11-25T17:18:00.123Z # 7 lines dropped: the disk was too slow\n";

    @TempDir
    private Path folder;

    private Path file(String name, String content) throws Exception {
        return Files.writeString(folder.resolve(name), content);
    }

    private void run(List<Path> open) throws Exception {
        StringBuilder script = new StringBuilder();
        for (int i = 0; i < open.size(); i++) {
            script.append("exec %d>>'%s'; ".formatted(3 + i, open.get(i)));
        }
        String program = Path.of("../bin/lib/out-of-memory").toRealPath().toString();
        Process process = new ProcessBuilder("sh", "-c", script + "sh '" + program + "' $$; exit 0")
                .redirectErrorStream(true)
                .start();
        assertThat(new String(process.getInputStream().readAllBytes(), UTF_8)).contains("The Java heap is exhausted");
        assertThat(process.waitFor()).isZero();
    }

    @Test
    void run_logsOfAnyName_tellsTheMountsLogOnly() throws Exception {
        Path log = file("access.log", MESSAGES);
        Path calls = file("access-mnt-data.log", CALLS);
        Path gap = file("calls.log", GAP);
        Path index = file("index.log", "");
        Path other = file("data", "");

        run(List.of(log, calls, gap, index, other));

        assertThat(log)
                .content()
                .startsWith(MESSAGES)
                .contains(" ERROR The Java heap is exhausted")
                .hasLineCount(2);
        assertThat(calls).hasContent(CALLS);
        assertThat(gap).hasContent(GAP);
        assertThat(index).isEmptyFile();
        assertThat(other).isEmptyFile();
    }

    @Test
    void run_logWithoutALineYet_tellsIt() throws Exception {
        Path log = file("mnt.log", "");

        run(List.of(log));

        assertThat(log).content().contains(" ERROR The Java heap is exhausted");
    }
}

package io.penstock.csi;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A child process that has ended.
 *
 * @param status null if it did not end in time, and was killed
 * @param output all that it has printed
 */
record Command(@Nullable Integer status, String output) {
    /** For a process that ends when it is told to. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /**
     * Runs a program. Its output goes to a file, because programs that it leaves behind may keep a pipe open.
     *
     * @param environment all of it
     */
    static Command run(List<String> command, Map<String, String> environment, Duration limit)
            throws IOException, InterruptedException {
        Path output = Files.createTempFile("penstock-csi", ".out");
        try {
            ProcessBuilder builder = new ProcessBuilder(command)
                    .redirectInput(new File("/dev/null"))
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile());
            builder.environment().clear();
            builder.environment().putAll(environment);
            Process process = builder.start();
            boolean ended = process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
            if (!ended) {
                process.destroy(); // the launcher passes that on
                if (!process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                    process.destroyForcibly();
                }
            }
            return new Command(
                    ended ? process.exitValue() : null, new String(Files.readAllBytes(output), UTF_8).strip());
        } finally {
            Files.deleteIfExists(output);
        }
    }

    boolean succeeded() {
        return status != null && status == 0;
    }
}

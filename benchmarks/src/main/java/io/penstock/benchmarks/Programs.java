package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Programs that run to completion. */
final class Programs {
    private static final Duration LIMIT = Duration.ofMinutes(20);

    private Programs() {}

    /**
     * Runs the program and waits for it, up to a limit that only a hung program reaches.
     *
     * @return its output, including standard error
     * @throws IOException if it cannot be started, does not end, or fails
     */
    static String run(List<String> command) throws IOException, InterruptedException {
        return run(command, LIMIT);
    }

    /** The same, with another limit. */
    static String run(List<String> command, Duration limit) throws IOException, InterruptedException {
        Path output = Files.createTempFile("penstock-bench-", ".out");
        Process process = null;
        try {
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectInput(Path.of("/dev/null").toFile())
                    .redirectOutput(output.toFile())
                    .start();
            if (!process.waitFor(limit)) {
                throw new IOException(
                        command.getFirst() + " was still running after " + limit.toMinutes() + " minutes");
            }
            String printed = Files.readString(output, StandardCharsets.UTF_8);
            if (process.exitValue() != 0) {
                throw new IOException(
                        String.join(" ", command) + " failed (" + process.exitValue() + "):\n" + printed.strip());
            }
            return printed;
        } finally {
            if (process != null) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
            }
            Files.deleteIfExists(output);
        }
    }
}

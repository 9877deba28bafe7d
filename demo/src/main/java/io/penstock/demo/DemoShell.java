package io.penstock.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Help.Ansi;

/**
 * Runs the ordinary programs with which the demo reads the mount. This process must not read the mount itself: it
 * serves the mount, and would wait for its own replies.
 */
final class DemoShell {
    private final Path folder;
    private final PrintStream out;

    /** A program's output, and how long it took. */
    static final class Result {
        private final byte[] output;
        private final Duration time;

        private Result(byte[] output, Duration time) {
            this.output = output;
            this.time = time;
        }

        byte[] bytes() {
            return output.clone();
        }

        String text() {
            return new String(output, UTF_8);
        }

        Duration time() {
            return time;
        }
    }

    /** @param folder where the programs run */
    DemoShell(Path folder, PrintStream out) {
        this.folder = folder;
        this.out = out;
    }

    /** The same for programs that run in another folder. */
    DemoShell in(Path other) {
        return new DemoShell(other, out);
    }

    void title(String text) {
        out.println();
        out.println(Ansi.AUTO.string("@|bold,cyan " + text + "|@"));
    }

    void say(String text) {
        out.println("  " + text);
    }

    void command(String text) {
        out.println(Ansi.AUTO.string("  @|bold \\$ " + text + "|@").replace("\\$", "$"));
    }

    /** Shows the command and runs it. */
    Result run(String command) throws IOException, InterruptedException {
        command(command);
        return quietly(command);
    }

    /** Runs a shell's command line. */
    Result quietly(String command) throws IOException, InterruptedException {
        long start = System.nanoTime();
        Process process = new ProcessBuilder(List.of("/bin/sh", "-c", command))
                .directory(folder.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        byte[] output;
        try (var stdout = process.getInputStream()) {
            output = stdout.readAllBytes();
        }
        int status = process.waitFor();
        if (status != 0) {
            throw new IOException("'" + command + "' ended with status " + status);
        }
        return new Result(output, Duration.ofNanos(System.nanoTime() - start));
    }
}

package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Programs that run to their end, never longer than a limit: a mount that hangs fails its test and not the build. */
final class Program {
    private static final Duration LIMIT = Duration.ofMinutes(4);

    private Program() {}

    /**
     * The result of a program that has ended.
     *
     * @param exit its exit status
     * @param out its standard output and standard error
     */
    record Result(int exit, String out) {
        /** The output of a program that must succeed. */
        String orThrow() {
            assertThat(exit).as(out).isZero();
            return out;
        }
    }

    /** Runs a line of shell, with {@code dir} as working directory and the arguments as $1, $2, … */
    static Result shell(Path dir, String line, Object... arguments) {
        var command = new java.util.ArrayList<>(List.of("bash", "-c", line, "bash"));
        for (Object argument : arguments) {
            command.add(argument.toString());
        }
        return run(dir, command);
    }

    static Result run(Path dir, List<String> command) {
        return run(dir, LIMIT, command);
    }

    /** @param limit a program that runs longer fails the test */
    static Result run(Path dir, Duration limit, List<String> command) {
        Path out = null;
        try {
            out = Files.createTempFile("penstock-it-", ".out");
            Process process = new ProcessBuilder(command)
                    .directory(dir.toFile())
                    .redirectErrorStream(true)
                    .redirectInput(
                            ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                    .redirectOutput(out.toFile())
                    .start();
            if (!process.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
                throw new AssertionError("still running after " + limit + ": " + command);
            }
            return new Result(process.exitValue(), Files.readString(out, StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted: " + command, e);
        } finally {
            delete(out);
        }
    }

    private static void delete(@org.jspecify.annotations.Nullable Path file) {
        try {
            if (file != null) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

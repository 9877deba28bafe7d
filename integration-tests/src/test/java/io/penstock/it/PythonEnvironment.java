package io.penstock.it;

import static org.junit.jupiter.api.Assumptions.abort;

import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.zip.CRC32;

/** A virtual environment of programs at fixed versions on the local disk, created once and kept for later runs. */
enum PythonEnvironment {
    DATA("data", 3L << 30),

    METRICS("metrics", 200L << 20),

    /** PyPI's torch for Linux on x86-64 needs the CUDA libraries, even without a device: 6 GB installed. */
    TORCH("torch", 16L << 30);

    private static final Duration INSTALLATION = Duration.ofMinutes(20);
    private static final String COMPLETE = "complete";
    private static final Path HERE = Path.of("/");

    private final String list;
    private final long space;

    /** @param space disk space that must be free before it is created */
    PythonEnvironment(String list, long space) {
        this.list = list;
        this.space = space;
    }

    /** Its interpreter. The test is skipped if the environment cannot be created. */
    Path interpreter() throws Exception {
        Path folder = folder();
        if (!Files.exists(folder.resolve(COMPLETE))) {
            make(folder);
        }
        return folder.resolve("bin/python");
    }

    /** A different list of programs, or a different Python, gives a different environment. */
    private Path folder() throws Exception {
        String python = run("python3", "-VV").orThrow();
        CRC32 sum = new CRC32();
        sum.update(Files.readAllBytes(resource(list + ".txt")));
        sum.update(python.getBytes(StandardCharsets.UTF_8));
        return Path.of(System.getProperty("user.home"), ".cache", "penstock", "python")
                .resolve("%s-%08x".formatted(list, sum.getValue()));
    }

    private void make(Path folder) throws Exception {
        Files.createDirectories(folder);
        long free = folder.toFile().getUsableSpace();
        if (free < space) {
            skip("it may take %d GiB, and %d are free".formatted(space >> 30, free >> 30));
        }
        must(run("python3", "-m", "venv", "--clear", folder.toString()));
        must(run(
                folder.resolve("bin/pip").toString(),
                "install",
                "--quiet",
                "--no-deps", // The list is complete.
                "--no-cache-dir",
                "--disable-pip-version-check",
                "--only-binary=:all:",
                "--requirement",
                resource(list + ".txt").toString()));
        Files.createFile(folder.resolve(COMPLETE));
    }

    private static Program.Result run(String... command) {
        return Program.run(HERE, INSTALLATION, List.of(command));
    }

    private void must(Program.Result result) {
        if (result.exit() != 0) {
            skip(result.out().lines().reduce((_, last) -> last).orElse("it said nothing"));
        }
    }

    /** bin/test repeats such lines. */
    private void skip(String why) {
        String said = "test: no Python programs of %s.txt, tests of them are skipped: %s".formatted(list, why);
        System.out.println(said);
        abort(said);
    }

    /** A file next to the programs. */
    static Path resource(String name) throws URISyntaxException {
        return Path.of(Objects.requireNonNull(PythonEnvironment.class.getResource("python/" + name), name)
                .toURI());
    }
}

package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testing.TestTier;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random system calls on a mount and on a local disk, compared one by one, errors included; then the next mount's view of
 * what they left. {@code -Dpenstock.seed=S} takes the sequence of that seed, {@code -Dpenstock.sequences=N} takes N others.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DifferentialIT {
    private static final int STEPS = 250;
    private static final int SEQUENCES = TestTier.choose("penstock.sequences", 3, 60);

    @TempDir
    private static Path scratch;

    private WrittenBucket bucket;
    private Path program;

    @BeforeAll
    void mount() throws Exception {
        bucket = new WrittenBucket(scratch, "-o", "allow-other");
        program = program("differential.py");
    }

    private Path program(String name) throws IOException {
        Path copy = scratch.resolve(name);
        try (InputStream in = Objects.requireNonNull(getClass().getResourceAsStream(name))) {
            Files.copy(in, copy);
        }
        return copy;
    }

    @AfterAll
    void unmount() throws Exception {
        bucket.close();
    }

    @Test
    void anyCalls_doWhatTheyDoOnALocalDisk() throws Exception {
        Long only = Long.getLong("penstock.seed");
        long first = only == null ? RandomGenerator.getDefault().nextInt(1_000_000) : only;
        int sequences = only == null ? SEQUENCES : 1;
        System.out.printf("DifferentialIT: %d sequences from -Dpenstock.seed=%d%n", sequences, first);
        for (long seed = first; seed < first + sequences; seed++) {
            assertSame(seed, Long.toString(seed), Integer.toString(STEPS), MountedBucket.BINDING);
        }
        bucket.remountWithAnEmptyCache();
        for (long seed = first; seed < first + sequences; seed++) {
            assertSame(seed);
        }
    }

    /** The calls that docs/SEMANTICS.md lists as refused, and the rarer ones that it lists as working. */
    @Test
    void rareCalls_doWhatTheDocumentationSays() throws Exception {
        assertThat(WrittenBucket.sh(
                        bucket.folder("rare"),
                        "python3 \"$1\" \"$2\"",
                        program("rare_calls.py"),
                        MountedBucket.BINDING))
                .isEmpty();
    }

    private void assertSame(long seed, String... arguments) throws Exception {
        Path onDisk = bucket.onDisk("seed-" + seed);
        Path mounted = bucket.folder("seed-" + seed);
        String call = "python3 \"$1\" \"$2\" \"$3\" " + String.join(" ", arguments);
        Program.Result result = Program.shell(scratch, call, program, onDisk, mounted);
        assertThat(result.out()).as("-Dpenstock.seed=" + seed).isEqualTo("same\n");
    }
}

package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testing.TestTier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Random system calls on a mount and on a local disk, compared one by one, including errors; then the next mount's view
 * of the result. {@code -Dpenstock.seed=S} uses that seed's sequence, {@code -Dpenstock.sequences=N} N others.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DifferentialIT {
    private static final int STEPS = 250;

    /** Of files of the largest size: calls that change one take time. */
    private static final long UPLOADS_A_SECOND = 10;

    private static final int SEQUENCES = TestTier.choose("penstock.sequences", 3, 60);

    @TempDir
    private static Path scratch;

    private WrittenBucket bucket;
    private Path program;
    private Path sizesProgram;

    /** Files whose size changes. */
    enum Sizes {
        PAGES(TestTier.choose(200, 3_000), 12_000),
        MANY_PAGES(TestTier.choose(60, 300), 1_300_000);

        private final int steps;
        private final int largest;

        Sizes(int steps, int largest) {
            this.steps = steps;
            this.largest = largest;
        }
    }

    @BeforeAll
    void mount() throws Exception {
        bucket = new WrittenBucket(scratch, "-o", "allow-other");
        program = Resources.copy("differential.py", scratch);
        sizesProgram = Resources.copy("sizes.py", scratch);
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

    /** The calls that docs/SEMANTICS.md lists as refused, and the rarer ones that it lists as supported. */
    @Test
    void rareCalls_doWhatTheDocumentationSays() throws Exception {
        assertThat(WrittenBucket.sh(
                        bucket.folder("rare"),
                        "python3 \"$1\" \"$2\"",
                        Resources.copy("rare_calls.py", scratch),
                        MountedBucket.BINDING))
                .isEmpty();
    }

    /** When a file's size changes, readers never see bytes that it did not have, such as zeros outside a hole. */
    @ParameterizedTest
    @EnumSource
    void readers_ofAFileThatIsCutAndGrows_seeWhatTheySeeOnALocalDisk(Sizes sizes) throws Exception {
        long seed = Long.getLong("penstock.seed", RandomGenerator.getDefault().nextInt(1_000_000));
        String call = "python3 \"$1\" \"$2\" " + seed + " " + sizes.steps + " " + sizes.largest;
        Path folder = Files.createDirectory(scratch.resolve(sizes.name()));
        try (S3Front front = new S3Front(S3Server.shared());
                WrittenBucket slow = new WrittenBucket(front.fronted(), folder)) {
            front.limit(UPLOADS_A_SECOND * sizes.largest);
            for (Path each : List.of(slow.onDisk("sizes"), slow.folder("sizes"))) {
                assertThat(WrittenBucket.sh(scratch, call, sizesProgram, each))
                        .as(each + ", -Dpenstock.seed=" + seed)
                        .isEmpty();
            }
            slow.assertHolds("sizes", slow.onDisk("sizes"));
        }
    }

    private void assertSame(long seed, String... arguments) throws Exception {
        Path onDisk = bucket.onDisk("seed-" + seed);
        Path mounted = bucket.folder("seed-" + seed);
        String call = "python3 \"$1\" \"$2\" \"$3\" " + String.join(" ", arguments);
        Program.Result result = Program.shell(scratch, call, program, onDisk, mounted);
        assertThat(result.out()).as("-Dpenstock.seed=" + seed).isEqualTo("same\n");
    }
}

package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.testing.TestTier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Programs that write at random and check their reads: fsx, every kind of change of one file in turn, and fio. The
 * memory for written bytes is the minimum, so that most of them are staged and read back from disk.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WriteStressIT {
    private static final long SEED = Long.getLong("penstock.seed", 1);
    private static final Duration LIMIT = Duration.ofMinutes(TestTier.choose(5, 40));

    @TempDir
    private static Path scratch;

    private WrittenBucket bucket;

    @BeforeAll
    void mount() throws Exception {
        List<String> options = new ArrayList<>(List.of("-o", "write.memory=8MiB,memory=64MiB"));
        options.addAll(options());
        bucket = new WrittenBucket(scratch, options.toArray(String[]::new));
    }

    /** Further options of the mount. */
    List<String> options() {
        return List.of();
    }

    @AfterAll
    void mountAgainAndUnmount() throws Exception {
        try (WrittenBucket last = bucket) {
            last.assertSameWithAnEmptyCache();
        }
    }

    /** The changes that fsx makes. */
    enum Exercise {
        /** Mostly within one block, with and without mmap, and sometimes committed. */
        SMALL(256 << 10, 64 << 10, TestTier.choose(10_000, 200_000), 0.1),

        /** Several blocks and parts, of which most are staged. */
        LARGE(24 << 20, 1 << 20, TestTier.choose(1_000, 20_000), 0.5);

        private final int fileSize;
        private final int operationSize;
        private final int operations;
        private final double closes;

        Exercise(int fileSize, int operationSize, int operations, double closes) {
            this.fileSize = fileSize;
            this.operationSize = operationSize;
            this.operations = operations;
            this.closes = closes;
        }

        /** Without msync after each mapped write: each would be an fsync, and so test the disk. */
        private String configuration() {
            return """
                flen = %d
                nomsyncafterwrite = true
                [opsize]
                max = %d
                [weights]
                close_open = %s
                invalidate = 0.1
                mapread = 10
                mapwrite = 10
                read = 10
                write = 10
                truncate = 5
                fsync = 0.1
                fdatasync = 0.1
                posix_fallocate = 3
                punch_hole = 5
                sendfile = 3
                posix_fadvise = 1
                copy_file_range = 5
                """.formatted(fileSize, operationSize, closes);
        }
    }

    @ParameterizedTest
    @EnumSource
    void fsx_randomOperations_findsEveryByteRight(Exercise exercise) throws Exception {
        Optional<Path> fsx = fsxBinary();
        assumeTrue(fsx.isPresent(), "no fsx: bin/test gets it where there is Cargo");
        String folder = "fsx-" + exercise.name();
        Path configuration = Files.writeString(scratch.resolve(folder + ".toml"), exercise.configuration());
        Path artifacts = Files.createDirectories(scratch.resolve(folder));

        Program.Result result = Program.run(
                scratch,
                LIMIT,
                List.of(
                        fsx.get().toString(),
                        "-f",
                        configuration.toString(),
                        "-N",
                        "" + exercise.operations,
                        "-S",
                        "" + SEED,
                        "-P",
                        artifacts.toString(),
                        bucket.folder(folder).resolve("file").toString()));

        assertThat(result.exit()).as("seed %d: %s", SEED, result.out()).isZero();
        bucket.assertStored(folder);
    }

    private static Optional<Path> fsxBinary() {
        Path ours = Path.of(System.getProperty("user.home"), ".cache", "penstock", "bin", "fsx");
        return Stream.concat(Stream.ofNullable(System.getenv("PENSTOCK_FSX")).map(Path::of), Stream.of(ours))
                .filter(Files::isExecutable)
                .findFirst();
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "--ioengine=psync --bsrange=4k-12k --fsync=500",
                "--ioengine=mmap --bs=4k",
                "--ioengine=psync --bs=4k --direct=1",
                "--ioengine=psync --bs=4k --numjobs=4 --offset_increment=16m"
            })
    void fio_randomWrites_areVerifiedAtOnceAndAfterARemount(String how) throws Exception {
        assumeTrue(Program.shell(scratch, "type -P fio").exit() == 0, "no fio: bin/test installs it");
        String folder = "fio-" + Math.floorMod(how.hashCode(), 1_000_000);

        fio(folder, how).orThrow();
        bucket.assertStored(folder);
        bucket.remountWithAnEmptyCache();

        fio(folder, how + " --verify_only").orThrow();
    }

    /** Bytes that are read back before the file is closed have not been committed. */
    private Program.Result fio(String folder, String how) throws Exception {
        List<String> command = new ArrayList<>(List.of("fio", "--name=write", "--rw=randwrite", "--size=16m"));
        command.add("--filename=" + bucket.folder(folder).resolve("file"));
        command.addAll(List.of("--verify=crc32c", "--verify_fatal=1", "--do_verify=1", "--randseed=" + SEED));
        command.addAll(List.of("--fallocate=none", "--output-format=terse", "--thread"));
        command.addAll(List.of(how.split(" ", -1)));
        return Program.run(scratch, command);
    }

    @Tag("long")
    @Test
    void fio_ofAFileThatIsThere_changesWhatItWrites() throws Exception {
        assumeTrue(Program.shell(scratch, "type -P fio").exit() == 0, "no fio: bin/test installs it");
        Path folder = bucket.folder("fio-old");
        WrittenBucket.sh(folder, "head -c 64M /dev/zero > file");
        String how = "--ioengine=psync --bs=4k --io_size=2m";

        fio("fio-old", how + " --size=64m").orThrow();

        bucket.assertStored("fio-old");
    }
}

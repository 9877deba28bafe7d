package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Python's data programs write a data set and read it: on the local disk, on a mount, and from the next mount, whose
 * cache is empty. The data read has the same sums each time. Prints a table of the mounts' requests, and of the times
 * as a multiple of the time on the local disk.
 */
@Tag("long")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class PythonDataIT {
    private static final Duration LIMIT = Duration.ofMinutes(4);
    private static final String USED = "used ";
    private static final String SECONDS = "seconds ";
    private static final double MIB = 1 << 20;

    @TempDir
    private static Path scratch;

    private final List<String> table = new ArrayList<>(List.of(
            "| program | written MiB | uploaded ÷ kept | used MiB | GETs | all requests | fetched ÷ used"
                    + " | write: time of the disk's | read at once | read, cold |",
            "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"));

    private S3Front front;
    private WrittenBucket bucket;

    enum Data {
        SAFETENSORS_WHOLE,
        SAFETENSORS_PART,
        NUMPY_FILES,
        HUGGINGFACE_CACHE,
        DATASETS_ARROW,
        PYARROW_PARQUET,
        POLARS_PARQUET,
        DUCKDB_FILE(false),
        H5PY_FILE,
        ZARR_CHUNKS,
        TENSORSTORE_ZARR,
        LANCE_TABLE(false),
        WEBDATASET_SHARDS,
        LMDB_BASE(false),
        GGUF_FILE,
        FAISS_INDEX,
        TORCH_FILES(PythonEnvironment.TORCH, true),
        TORCH_DCP(PythonEnvironment.TORCH, false),
        TORCH_LOADER(PythonEnvironment.TORCH, true),
        MOSAICML_SHARDS(PythonEnvironment.TORCH, true);

        private final PythonEnvironment environment;

        /** Whether each run writes the same bytes. */
        private final boolean repeatable;

        Data() {
            this(true);
        }

        Data(boolean repeatable) {
            this(PythonEnvironment.DATA, repeatable);
        }

        Data(PythonEnvironment environment, boolean repeatable) {
            this.environment = environment;
            this.repeatable = repeatable;
        }

        private String lowerCase() {
            return name().toLowerCase(Locale.ROOT);
        }

        private Run run(String command, Path folder) throws Exception {
            // No run leaves anything outside the folder for the next one.
            List<String> line = List.of(
                    "env",
                    "HOME=" + Files.createDirectories(scratch.resolve("home")),
                    environment.interpreter().toString(),
                    "-B",
                    PythonEnvironment.resource(lowerCase() + ".py").toString(),
                    command,
                    folder.toString());
            return Run.of(Program.run(scratch, LIMIT, line).orThrow());
        }
    }

    /**
     * The output of a program.
     *
     * @param sums of the data read
     * @param used bytes; may differ for a program whose runs write different bytes
     * @param seconds the time taken
     */
    private record Run(String sums, String used, double seconds) {
        static Run of(String printed) {
            int end = printed.lastIndexOf(SECONDS);
            int sums = Math.max(0, printed.substring(0, end).lastIndexOf(USED));
            return new Run(
                    printed.substring(0, sums),
                    printed.substring(sums, end),
                    Double.parseDouble(printed.substring(end + SECONDS.length()).strip()));
        }

        /** The time as a multiple of another run's. */
        double of(Run other) {
            return seconds / other.seconds;
        }
    }

    @BeforeAll
    void mount() throws Exception {
        front = new S3Front(S3Server.shared());
        bucket = new WrittenBucket(front.fronted(), scratch);
    }

    @AfterAll
    void printAndUnmount() throws Exception {
        try (S3Front _ = front;
                WrittenBucket _ = bucket) {
            String printed = String.join("\n", table) + "\n";
            System.out.println(printed);
            Files.writeString(Path.of("target", "programs-" + MountedBucket.BINDING + ".md"), printed);
        }
    }

    @ParameterizedTest
    @EnumSource
    void program_onAMount_readsWhatItReadsOnDisk(Data data) throws Exception {
        String name = data.lowerCase();
        Path disk = bucket.onDisk(name);
        Run writtenOnDisk = data.run("write", disk);
        Run onDisk = data.run("read", disk);

        front.drainRequests();
        Path folder = bucket.folder(name);
        Run written = data.run("write", folder);
        Run atOnce = data.run("read", folder);
        assertThat(atOnce.sums()).isEqualTo(onDisk.sums()).isNotEmpty();
        if (data.repeatable) {
            assertThat(atOnce.used()).isEqualTo(onDisk.used());
            bucket.assertHolds(name, disk);
        } else {
            bucket.assertStored(name);
        }
        long uploaded = front.drainRequests().stream()
                .filter(S3Front.Request::isUpload)
                .mapToLong(S3Front.Request::length)
                .sum();

        bucket.remountWithAnEmptyCache();
        front.drainRequests();
        front.drainBytes();
        Run cold = data.run("read", folder);
        assertThat(cold.sums()).isEqualTo(atOnce.sums());
        assertThat(cold.used()).isEqualTo(atOnce.used());
        List<S3Front.Request> requests = front.drainRequests();
        long fetched = front.drainBytes();
        long used = Long.parseLong(cold.used().substring(USED.length()).strip());
        table.add("| %s | %.1f | %.2f | %.1f | %d | %d | %.2f | %.1f | %.1f | %.1f |"
                .formatted(
                        name.replace('_', ' '),
                        size(disk) / MIB,
                        (double) uploaded / size(disk),
                        used / MIB,
                        requests.stream().filter(S3Front.Request::isRead).count(),
                        requests.size(),
                        (double) fetched / used,
                        written.of(writtenOnDisk),
                        atOnce.of(onDisk),
                        cold.of(onDisk)));
    }

    private static long size(Path folder) throws IOException {
        long size = 0;
        try (Stream<Path> paths = Files.walk(folder)) {
            for (Path path : paths.filter(each -> Files.isRegularFile(each, LinkOption.NOFOLLOW_LINKS))
                    .toList()) {
                size += Files.size(path);
            }
        }
        return size;
    }
}

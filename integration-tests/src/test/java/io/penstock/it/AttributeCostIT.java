package io.penstock.it;

import static io.penstock.it.WrittenBucket.sh;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testing.TestData;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The requests that kept attributes cost: for a job that reads, and for programs that copy files with attributes. */
@Tag("long")
final class AttributeCostIT {
    private static final int DIRECTORIES = 20;
    private static final int FILES = 1_000;
    private static final int COPIED = 200;

    /** Reads each file once by name, in random order, like a training job with a list of its samples. */
    private static final String EPOCH = """
        import os, random, sys
        from concurrent.futures import ThreadPoolExecutor
        names = ['%02d/%04d' % (i % 20, i) for i in range(1000)]
        random.Random(1).shuffle(names)
        def read(name):
            with open(os.path.join(sys.argv[1], name), 'rb') as f:
                return len(f.read())
        with ThreadPoolExecutor(8) as threads:
            print(sum(threads.map(read, names)))
        """;

    @TempDir
    private Path scratch;

    /**
     * Requests of one epoch.
     *
     * @param gets of objects
     * @param heads of files, by key
     * @param markers those of directories' marker objects, by key
     */
    private record Epoch(long gets, Map<String, Long> heads, Map<String, Long> markers) {
        static Epoch of(List<S3Front.Request> requests) {
            return new Epoch(
                    requests.stream().filter(S3Front.Request::isRead).count(),
                    heads(requests, target -> !target.endsWith("/")),
                    heads(requests, target -> target.endsWith("/")));
        }

        private static Map<String, Long> heads(List<S3Front.Request> requests, Predicate<String> which) {
            return requests.stream()
                    .filter(request -> request.method().equals("HEAD"))
                    .map(S3Front.Request::target)
                    .filter(which)
                    .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
        }

        @Override
        public String toString() {
            return "%d GETs, %d HEADs of %d files, %d of %d directories"
                    .formatted(gets, sum(heads), heads.size(), sum(markers), markers.size());
        }

        private static long sum(Map<String, Long> counts) {
            return counts.values().stream().mapToLong(Long::longValue).sum();
        }
    }

    @ParameterizedTest
    @CsvSource({"off", "on"})
    void coldEpoch_whereNobodyHasKeptAny_costsOneHeadADirectoryAtMost(String preload) throws Exception {
        try (TestBucket bucket = new TestBucket(S3Server.shared())) {
            List<TestData> files = new ArrayList<>();
            for (int i = 0; i < FILES; i++) {
                files.add(TestData.of("%02d/%04d".formatted(i % DIRECTORIES, i), 4_000));
            }
            bucket.putAll(files);

            Epoch ignore = epoch(bucket, preload, "ignore");
            Epoch keep = epoch(bucket, preload, "keep");
            System.out.printf("AttributeCostIT, preload %s: ignore %s; keep %s%n", preload, ignore, keep);

            // A few files are requested twice in some runs, with any setting: by a reader and by readahead.
            assertThat(ignore.gets).isBetween((long) FILES, FILES + FILES / 20L);
            assertThat(keep.gets).isBetween((long) FILES, FILES + FILES / 20L);
            assertThat(ignore.markers).isEmpty();
            assertThat(keep.markers.values()).allMatch(count -> count == 1);
            assertThat(keep.heads.values())
                    .as("one for the lookup, none for attributes")
                    .allMatch(count -> count == 1);
            if (preload.equals("on")) {
                assertThat(keep.heads).isEmpty();
                assertThat(keep.markers).isEmpty();
            }
        }
    }

    private Epoch epoch(TestBucket bucket, String preload, String attributes) throws Exception {
        Path folder = Files.createDirectory(scratch.resolve(attributes));
        try (S3Front front = new S3Front(S3Server.shared());
                MountedBucket mount = MountedBucket.mount(
                        front.fronted(),
                        bucket.name(),
                        folder,
                        "--read-only",
                        "--metadata-ttl",
                        "10m",
                        "--metadata-preload",
                        preload,
                        "--metadata-attributes",
                        attributes)) {
            if (preload.equals("on")) {
                mount.awaitLog(FILES + " objects in ");
            }
            front.drainRequests();
            assertThat(sh(scratch, "python3 -c \"$1\" \"$2\"", EPOCH, mount.path()))
                    .isEqualTo(FILES * 4_000L + "\n");
            return Epoch.of(front.drainRequests());
        }
    }

    /**
     * Requests that change files, without those of marker objects and probes.
     *
     * @param copies changes of metadata alone, and renames
     */
    private record Cost(long puts, long copies, long deletes) {
        static Cost of(List<S3Front.Request> requests) {
            List<S3Front.Request> ofFiles = requests.stream()
                    .filter(request ->
                            !request.target().endsWith("/") && !request.target().contains("/.penstock/"))
                    .toList();
            return new Cost(
                    ofFiles.stream().filter(S3Front.Request::isUpload).count(),
                    ofFiles.stream()
                            .filter(request -> request.method().equals("PUT") && !request.isUpload())
                            .count(),
                    ofFiles.stream()
                            .filter(request -> request.method().equals("DELETE"))
                            .count());
        }
    }

    /** docs/SEMANTICS.md has these figures. */
    @Test
    void tarAndCpAndRsync_ofManyFiles_costWhatIsPromised() throws Exception {
        Path source = Files.createDirectory(scratch.resolve("source"));
        sh(source, """
            mkdir tree && for i in $(seq $1); do echo "number $i" > tree/$i; done
            chmod 644 tree/* && find tree -type f -exec touch -d 2015-05-05 {} +
            tar cf tree.tar tree
            """, COPIED);
        Map<String, Cost> visible = costs(source, "visible");
        Map<String, Cost> staged = costs(source, "staged");
        System.out.printf("AttributeCostIT, of %d files: write.close visible %s; staged %s%n", COPIED, visible, staged);

        assertThat(visible)
                .isEqualTo(Map.of(
                        "tar", new Cost(COPIED, 0, 0),
                        "cp", new Cost(COPIED, 0, 0),
                        "rsync --inplace", new Cost(COPIED, 2 * COPIED, 0),
                        "rsync", new Cost(COPIED, 3 * COPIED, COPIED)));
        Cost once = new Cost(COPIED, 0, 0);
        assertThat(staged).containsEntry("tar", once).containsEntry("cp", once);
        // One request each, on a machine that keeps up with rsync.
        assertThat(staged.values()).allMatch(cost -> cost.puts == COPIED && cost.copies < 2 * COPIED);
    }

    private Map<String, Cost> costs(Path source, String close) throws Exception {
        try (S3Front front = new S3Front(S3Server.shared());
                WrittenBucket bucket = new WrittenBucket(
                        front.fronted(), Files.createDirectory(scratch.resolve(close)), "--write-close", close)) {
            return Map.of(
                    "tar", cost(front, bucket, "tar xpf \"$1\"/tree.tar", source),
                    "cp", cost(front, bucket, "mkdir cp && cp -p \"$1\"/tree/* cp", source),
                    "rsync --inplace", cost(front, bucket, "rsync -a --inplace \"$1\"/tree/ inplace", source),
                    "rsync", cost(front, bucket, "rsync -a \"$1\"/tree/ rsync", source));
        }
    }

    /** Counts requests until everything that the script has written is in the bucket. */
    private static Cost cost(S3Front front, WrittenBucket bucket, String script, Path source) throws Exception {
        Path folder = bucket.folder("copies");
        front.drainRequests();
        sh(folder, script, source);
        bucket.remountWithAnEmptyCache(); // staged content is sent before that
        return Cost.of(front.drainRequests());
    }
}

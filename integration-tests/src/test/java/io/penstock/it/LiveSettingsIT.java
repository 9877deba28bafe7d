package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testing.TestData;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Settings that change while a mount serves. */
@Timeout(240)
final class LiveSettingsIT {
    private static final int MIB = 1 << 20;
    private static final int READERS = 16;
    private static final S3Server SERVER = S3Server.shared();

    @TempDir
    private Path scratch;

    private TestBucket bucket;
    private final List<TestData> objects = Stream.concat(
                    IntStream.range(0, 4).mapToObj(i -> TestData.of("large/" + i, 24L * MIB + i)),
                    IntStream.range(0, 64).mapToObj(i -> TestData.of("small/" + i, 100_000L + i)))
            .toList();

    @BeforeEach
    void fillBucket() throws Exception {
        bucket = new TestBucket(SERVER);
        bucket.putAll(objects);
    }

    @AfterEach
    void deleteBucket() {
        bucket.close();
    }

    private String penstock(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(MountedBucket.penstock());
        command.addAll(List.of(arguments));
        return Program.run(scratch, command).orThrow();
    }

    @Tag("long")
    @Test
    void set_everyLimitWhileReadersAndAWriterRun_losesNothing() throws Exception {
        List<List<String>> rounds = List.of(
                List.of(
                        "cache.size=40MiB",
                        "cache.min-free=2MiB",
                        "memory=64MiB",
                        "readahead.concurrency=2",
                        "readahead.max-window=0",
                        "readahead.range-size=1MiB",
                        "readahead.small-file=0",
                        "metadata.ttl=0s",
                        "metadata.negative-ttl=0s",
                        "metadata.list-concurrency=1",
                        "write.memory=8MiB",
                        "write.staging-size=8MiB",
                        "upload.concurrency=1",
                        "upload.concurrency-per-file=1",
                        "upload.concurrency-while-staging=3",
                        "upload.part-size=16MiB",
                        "share.bandwidth=1MiB",
                        "cost.gets=1",
                        "cost.puts=2",
                        "cost.transfer=3",
                        "log.level=debug"),
                List.of(
                        "cache.size=400MiB",
                        "memory=128MiB",
                        "readahead.concurrency=64",
                        "readahead.max-window=64MiB",
                        "readahead.range-size=8MiB",
                        "readahead.small-file=4MiB",
                        "metadata.ttl=60s",
                        "write.memory=64MiB",
                        "write.staging-size=1GiB",
                        "upload.concurrency=16",
                        "upload.concurrency-per-file=8",
                        "share.bandwidth=0B",
                        "cost.transfer=0"));
        AtomicBoolean done = new AtomicBoolean();
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch);
                ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<Integer>> work = new ArrayList<>();
            try {
                for (int i = 0; i < READERS; i++) {
                    int first = i;
                    work.add(threads.submit(() -> readUntil(done, mount, first)));
                }
                work.add(threads.submit(writeUntil(done, mount)));
                for (List<String> settings : rounds) {
                    List<String> command =
                            new ArrayList<>(List.of("set", mount.path().toString()));
                    command.addAll(settings);
                    String changes = penstock(command.toArray(String[]::new));
                    for (String setting : settings) {
                        assertThat(changes).contains(setting.substring(0, setting.indexOf('=')) + ": ");
                    }
                }
            } finally {
                done.set(true);
            }
            for (Future<Integer> each : work) {
                assertThat(each.get()).isPositive();
            }
            assertThat(penstock("config", "show", "--mount", mount.path().toString())
                            .lines())
                    .anyMatch(line -> line.matches("cache.size: 400MiB +# penstock set: option 'cache.size=400MiB'"))
                    .anyMatch(line -> line.matches("upload.part-size: 16MiB +# penstock set.*"));
            assertThat(mount.log())
                    .contains("readahead.concurrency: changed from 2 to 64")
                    .doesNotContain("ERROR");
        }
    }

    private int readUntil(AtomicBoolean done, MountedBucket mount, int first) throws Exception {
        int read = 0;
        for (int i = first; read == 0 || !done.get(); i++) {
            TestData data = objects.get(i % objects.size());
            try (InputStream in = Files.newInputStream(mount.path().resolve(data.name()))) {
                TestBucket.verify(data, in);
            }
            read++;
        }
        return read;
    }

    private Callable<Integer> writeUntil(AtomicBoolean done, MountedBucket mount) throws IOException {
        TestData data = TestData.of("written", 30L * MIB);
        Path local = scratch.resolve("local");
        Files.write(local, data.bytes());
        return () -> {
            int written = 0;
            while (written == 0 || !done.get()) {
                Path copy = mount.path().resolve("written-" + written % 3);
                Files.copy(local, copy, StandardCopyOption.REPLACE_EXISTING);
                try (InputStream in = Files.newInputStream(copy)) {
                    TestBucket.verify(data, in);
                }
                written++;
            }
            return written;
        };
    }

    @Tag("long")
    @Test
    void set_aSmallerCache_evictsWhatIsTooMuch() throws Exception {
        try (MountedBucket mount =
                MountedBucket.mount(SERVER, bucket.name(), scratch, "-o", "fuse.passthrough=off,memory=256MiB")) {
            Program.shell(scratch, "cat \"$1\"/large/* >/dev/null", mount.path())
                    .orThrow();
            Await.until("what was read is on the disk", () -> diskBytes(mount) > 80L * MIB);

            penstock("set", mount.path().toString(), "cache.size=20MiB");

            Await.until("the cache has shrunk", () -> diskBytes(mount) <= 20L * MIB);
            readUntil(new AtomicBoolean(true), mount, 0);
        }
    }

    /** Counts the kernel's calls, not the mount's requests to the store. */
    @Test
    void set_anotherTtl_reachesTheKernel() throws Exception {
        try (MountedBucket mount =
                MountedBucket.mount(SERVER, bucket.name(), scratch, "-o", "metadata.ttl=0s", "--binding", "kernel")) {
            assertThat(lookups(mount)).as("nothing may be believed").isPositive();

            penstock("set", mount.path().toString(), "metadata.ttl=10m");
            long _ = lookups(mount); // the kernel's first lookup with the new time to live
            assertThat(lookups(mount)).as("all is believed").isZero();

            penstock("set", mount.path().toString(), "metadata.ttl=0s");
            // Another file: the kernel's earlier entries stay valid for their time to live.
            long _ = lookups(mount, "large/1");
            assertThat(lookups(mount, "large/1"))
                    .as("nothing may be believed again")
                    .isPositive();
        }
    }

    private long lookups(MountedBucket mount) throws Exception {
        return lookups(mount, "large/0");
    }

    /** The number of the kernel's calls about names and attributes while a file is examined ten times. */
    private long lookups(MountedBucket mount, String file) throws Exception {
        long before = lookupsAndGetattrs(mount);
        Path path = mount.path().resolve(file);
        for (int i = 0; i < 10; i++) {
            assertThat(Files.size(path)).isPositive();
        }
        return lookupsAndGetattrs(mount) - before;
    }

    private long lookupsAndGetattrs(MountedBucket mount) throws Exception {
        String totals = penstock("stats", mount.path().toString(), "--json", "--once");
        return Pattern.compile("\"(?:lookup|getattr)\":\\{\"count\":(\\d+)")
                .matcher(totals)
                .results()
                .mapToLong(call -> Long.parseLong(call.group(1)))
                .sum();
    }

    private long diskBytes(MountedBucket mount) throws Exception {
        String totals = penstock("stats", mount.path().toString(), "--json", "--once");
        return Long.parseLong(totals.replaceFirst("(?s).*\"diskBytes\":(\\d+).*", "$1"));
    }

    @Test
    void reload_aChangedFile_listsWhatHoldsAndWhatNeedsANewMount() throws Exception {
        Path file = Files.writeString(scratch.resolve("penstock.yaml"), "defaults: {metadata: {ttl: 30s}}");
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch, "--config", file.toString())) {
            Files.writeString(file, "defaults: {metadata: {ttl: 5s}, fuse: {threads: 7}, memory: 64MiB}");

            assertThat(penstock("reload", mount.path().toString()).lines())
                    .contains("metadata.ttl: 30s -> 5s", "fuse.threads: 32 -> 7, at the next mount")
                    .anyMatch(line -> line.matches("memory: .* -> 64MiB"));

            Files.writeString(file, "defaults: {metadata: {ttl: soon}}");
            List<String> command = new ArrayList<>(MountedBucket.penstock());
            command.addAll(List.of("reload", mount.path().toString()));
            assertThat(Program.run(scratch, command).out()).contains(file + ":1", "metadata.ttl: invalid value 'soon'");
            assertThat(Files.exists(mount.path().resolve("large/0"))).isTrue();
        }
    }

    @Tag("long")
    @Test
    void mount_inTheBackground_reloadsAtAHangupAndKeepsItsLogForItself() throws Exception {
        Path file = Files.writeString(scratch.resolve("penstock.yaml"), "defaults: {metadata: {ttl: 30s}}");
        Path mountPoint = Files.createDirectories(scratch.resolve("background"));
        Path log = scratch.resolve("background.log");
        Path access = scratch.resolve("access.log");
        inBackground(mountPoint, "cache", file, log, "--log-access", access).orThrow();
        try {
            String pid = penstock("stats", mountPoint.toString(), "--json", "--once")
                    .replaceFirst("(?s).*\"pid\":(\\d+).*", "$1");
            Files.writeString(file, "defaults: {metadata: {ttl: 6s}}");

            Program.run(scratch, List.of("kill", "-HUP", pid)).orThrow();

            Await.until(
                    "the mount has reloaded",
                    () -> Files.readString(log).contains("metadata.ttl: changed from 30s to 6s"));
            assertThat(Files.exists(mountPoint.resolve("large/0"))).isTrue();

            Path other = Files.createDirectories(scratch.resolve("other"));
            assertThat(inBackground(other, "other-cache", file, log).out())
                    .contains("log.file: " + log + " is already the log of the mount on " + mountPoint);
            assertThat(inBackground(other, "other-cache", file, log.resolveSibling("other.log"), "--log-access", access)
                            .out())
                    .contains("log.access: " + access + " is already the log of the mount on " + mountPoint);
            assertThat(inBackground(other, "other-cache", file, access).out())
                    .contains("log.file: " + access + " is already the log of the mount on " + mountPoint);
            Path own = scratch.resolve("own.log");
            assertThat(inBackground(other, "other-cache", file, own, "--log-access", own)
                            .out())
                    .contains("log.access: " + own + " is already this mount's log.file");
            assertThat(MountedBucket.isMounted(other)).isFalse();
        } finally {
            penstock("umount", mountPoint.toString());
        }
    }

    private Program.Result inBackground(Path mountPoint, String cache, Path file, Path log, Object... options)
            throws Exception {
        List<Object> arguments = new ArrayList<>(List.of(
                MountedBucket.penstock().getFirst(),
                bucket.name(),
                mountPoint,
                SERVER.endpoint(),
                SERVER.accessKey(),
                SERVER.secretKey(),
                file,
                log,
                scratch.resolve(cache)));
        arguments.addAll(List.of(options));
        return Program.shell(
                scratch,
                "AWS_ACCESS_KEY_ID=$5 AWS_SECRET_ACCESS_KEY=$6 \"$1\" mount $2 \"$3\" --endpoint $4"
                        + " --region us-east-1 --path-style --config \"$7\" --log-file \"$8\" --cache \"$9\""
                        + " \"${@:10}\"",
                arguments.toArray());
    }
}

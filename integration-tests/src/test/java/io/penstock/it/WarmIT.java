package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.it.S3Front.Request;
import io.penstock.it.S3Front.Treatment;
import io.penstock.testing.TestData;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Data is fetched ahead of the job, and kept: penstock warm, unpin, evict and cache status. */
final class WarmIT {
    private static final long MIB = 1 << 20;
    private static final int SMALL = 60;
    private static final int LARGE = 4;

    /** A small file takes one GET, a large one two. */
    private static final int GETS = SMALL + 2 * LARGE;

    /** Names stay known no matter how long commands take: the default is a minute. */
    private static final String KNOWN = "metadata.ttl=10m";

    private static final S3Server SERVER = S3Server.shared();

    @TempDir
    private Path scratch;

    private TestBucket bucket;
    private S3Front front;
    private final List<TestData> small = IntStream.range(0, SMALL)
            .mapToObj(i -> TestData.of("set/small/%03d.jpg".formatted(i), 20_000 + i))
            .toList();
    private final List<TestData> large = IntStream.range(0, LARGE)
            .mapToObj(i -> TestData.of("set/large/%d.tar".formatted(i), 9 * MIB + i))
            .toList();
    private final List<TestData> set =
            Stream.concat(small.stream(), large.stream()).toList();

    @BeforeEach
    void fillBucket() throws Exception {
        bucket = new TestBucket(SERVER);
        bucket.putAll(set);
        front = new S3Front(SERVER);
    }

    @AfterEach
    void removeBucket() throws Exception {
        front.close();
        bucket.close();
    }

    private MountedBucket mount(String... options) throws Exception {
        return MountedBucket.mount(front.fronted(), bucket.name(), scratch, options);
    }

    private static void verify(MountedBucket mount, List<TestData> data) throws Exception {
        for (TestData each : data) {
            try (InputStream in = Files.newInputStream(mount.path().resolve(each.name()))) {
                TestBucket.verify(each, in);
            }
        }
    }

    private static Program.Result penstock(MountedBucket mount, String command, String... arguments) {
        List<String> line = new ArrayList<>(MountedBucket.penstock());
        line.addAll(List.of(command.split(" ", -1)));
        line.add(mount.path().toString());
        line.addAll(List.of(arguments));
        return Program.run(Path.of("/"), line);
    }

    private int gets() {
        return (int) front.drainRequests().stream().filter(Request::isRead).count();
    }

    /**
     * The maximum number of GETs that the mount sends for this many fetches. A GET with a slow response is sent again:
     * two at first, and three for a hundred responses, including responses to repeated GETs.
     */
    private static int withSlowOnesAgain(int fetches) {
        return fetches + (200 + 3 * fetches) / (100 - 3);
    }

    /** The mount's fetches. One with a slow response may be several GETs. */
    private static long fetches(MountedBucket mount) {
        String json = penstock(mount, "stats", "--once", "--json").orThrow();
        return number(json, "demandGets") + number(json, "readaheadGets");
    }

    /** The share of a path's bytes on NVMe, in percent. */
    private static int onNvme(MountedBucket mount, String path) {
        String json = penstock(mount, "cache status", path, "--json").orThrow();
        return (int) (100 * number(json, "nvme") / number(json, "bytes"));
    }

    private static long number(String json, String field) {
        Matcher matcher = Pattern.compile("\"" + field + "\":(\\d+)").matcher(json);
        assertThat(matcher.find()).as(json).isTrue();
        return Long.parseLong(matcher.group(1));
    }

    @Test
    void warm_thenTheStoreIsGone_readsAllFromTheCache() throws Exception {
        try (MountedBucket mount = mount("--s3-retry-deadline", "0s", "-o", KNOWN)) {
            assertThat(penstock(mount, "warm", "set/small", "set/large/?.tar").orThrow())
                    .contains("64 fetched");
            assertThat(fetches(mount)).isEqualTo(GETS);
            assertThat(gets()).isBetween(GETS, withSlowOnesAgain(GETS));
            assertThat(onNvme(mount, "set")).isEqualTo(100);
            front.treat(_ -> Treatment.answer(503, "SlowDown"));
            verify(mount, set);
        }
    }

    @Tag("long")
    @Test
    void warm_killedAndRepeatedByAManifest_fetchesTheRestOnly() throws Exception {
        CountDownLatch killed = new CountDownLatch(1);
        front.treat(request -> {
            if (request.isRead() && request.target().matches(".*/small/0[345].*")) {
                awaitQuietly(killed);
            }
            return Treatment.PASS;
        });
        try (MountedBucket mount = mount()) {
            penstock(mount, "warm", "set", "--no-wait").orThrow();
            Await.until(
                    "files are on disk",
                    () -> number(penstock(mount, "warm", "--status", "--json").orThrow(), "files") == LARGE + 30);
            mount.kill();
            killed.countDown();
        }
        gets();
        try (MountedBucket mount = mount()) {
            Path manifest = Files.write(
                    scratch.resolve("manifest"),
                    set.stream().map(TestData::name).toList());
            penstock(mount, "warm", "--manifest", manifest.toString()).orThrow();
            assertThat(gets()).isEqualTo(30);
            assertThat(penstock(mount, "warm", ".").orThrow()).contains("64 cached");
            assertThat(gets()).isZero();
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Tag("long")
    @Test
    void warm_moreThanTheCache_bringsTheFirstAndNamesTheRest() throws Exception {
        try (MountedBucket mount = mount("--cache-size", "24MiB")) {
            Program.Result result = penstock(mount, "warm", "set/large");
            assertThat(result.exit()).isOne();
            assertThat(result.out())
                    .contains("set/large/2.tar: no room left", "set/large/3.tar: no room left", "2 fetched");
            assertThat(onNvme(mount, "set/large/0.tar")).isEqualTo(100);
            assertThat(onNvme(mount, "set/large/1.tar")).isEqualTo(100);
            verify(mount, set);
        }
    }

    @Test
    void warm_whatChangesAndVanishesMeanwhile_isNamedAndTheRestComes() throws Exception {
        try (MountedBucket mount = mount("-o", KNOWN)) {
            Program.shell(mount.path(), "ls -R .").orThrow(); // names are known from here on
            bucket.put(small.get(3).name(), new byte[70_000]);
            bucket.delete(small.get(5).name());
            Program.Result result = penstock(mount, "warm", "set", "absent/*.bin", "none");
            assertThat(result.exit()).isOne();
            assertThat(result.out())
                    .contains("set/small/003.jpg: changed in the bucket")
                    .contains("set/small/005.jpg: no longer in the bucket")
                    .contains("absent/*.bin: no such file")
                    .contains("none: no such file")
                    .contains("62 fetched");
            assertThat(penstock(mount, "warm", "set").orThrow()).contains("62 cached, 1 fetched");
        }
    }

    @Tag("long")
    @Test
    void pin_scanOfTwiceTheCache_staysAlsoAfterARemount() throws Exception {
        List<TestData> others = IntStream.range(0, 14)
                .mapToObj(i -> TestData.of("other/%d.bin".formatted(i), 9 * MIB + i))
                .toList();
        bucket.putAll(others);
        try (MountedBucket mount = mount("--cache-size", "64MiB")) {
            penstock(mount, "warm", "set", "set/large/?.tar", "--pin").orThrow(); // the overlap counts once
            verify(mount, others);
            assertThat(onNvme(mount, "set")).isEqualTo(100);
            assertThat(penstock(mount, "evict", "set/small").exit()).isOne();
            assertThat(onNvme(mount, "set")).isEqualTo(100);
        }
        try (MountedBucket mount = mount("--cache-size", "64MiB")) {
            verify(mount, others);
            gets();
            verify(mount, set);
            assertThat(gets()).isZero();
            assertThat(penstock(mount, "unpin", "set/small/0*").orThrow()).contains("60 files");
            penstock(mount, "evict", "set/small").orThrow();
            penstock(mount, "evict", "set/large/0.tar", "--force").orThrow();
            assertThat(onNvme(mount, "set/small")).isZero();
            assertThat(onNvme(mount, "set/large/0.tar")).isZero();
            assertThat(onNvme(mount, "set/large/1.tar")).isEqualTo(100);
            verify(mount, set);
        }
    }

    @Tag("long")
    @Test
    void pin_thatDoesNotFit_isRefusedBeforeAnythingIsFetched() throws Exception {
        try (MountedBucket mount = mount("--cache-size", "24MiB")) {
            Program.Result result = penstock(mount, "warm", "set", "--pin", "--for", "8h");
            assertThat(result.exit()).isOne();
            assertThat(result.out()).contains("not enough room: 37MiB needed", "23MiB allowed for pins (15/16");
            assertThat(gets()).isZero();
            penstock(mount, "warm", "set/large/0.tar", "--pin").orThrow();
            result = penstock(mount, "warm", "set/large", "--pin");
            assertThat(result.out()).contains("9MiB already pinned");
        }
    }

    @Tag("long")
    @Test
    void mount_withPathsToWarm_bringsThemInAndPinsThem() throws Exception {
        try (MountedBucket mount = mount("-o", "warm_paths=set/small:set/large/0.tar,warm_pin")) {
            Await.until(
                    "all is there", () -> onNvme(mount, "set/small") == 100 && onNvme(mount, "set/large/0.tar") == 100);
            assertThat(fetches(mount)).isEqualTo(SMALL + 2);
            assertThat(gets()).isBetween(SMALL + 2, withSlowOnesAgain(SMALL + 2));
            assertThat(penstock(mount, "evict", "set/small").exit()).isOne();
        }
    }

    @Tag("long")
    @Test
    void warm_withABandwidth_takesItsTime() throws Exception {
        try (MountedBucket mount = mount()) {
            String end = penstock(mount, "warm", "set/large/0.tar", "--bandwidth", "3MiB", "--json")
                    .orThrow();
            assertThat(number(end, "seconds")).isGreaterThanOrEqualTo(1); // 9 MiB, the first of them without delay
            assertThat(onNvme(mount, "set/large/0.tar")).isEqualTo(100);
        }
    }

    @Tag("long")
    @Test
    void pin_forATime_endsByItself() throws Exception {
        try (MountedBucket mount = mount()) {
            penstock(mount, "warm", "set/large/0.tar", "--pin", "--for", "15s").orThrow();
            assertThat(why(mount, "set/large/0.tar").orThrow()).contains("pinned until ");
            assertThat(penstock(mount, "evict", "set/large/0.tar").out()).contains("pinned; unpin it");
            Await.until(
                    "the pin has ended",
                    () -> penstock(mount, "evict", "set/large/0.tar").exit() == 0);
            assertThat(onNvme(mount, "set/large/0.tar")).isZero();
        }
    }

    @Tag("long")
    @Test
    void warm_pathsOnStandardInputAndManyArguments_areAllBroughtIn() throws Exception {
        Path temporary = Files.createDirectory(scratch.resolve("temporary"));
        try (MountedBucket mount = mount()) {
            assertThat(Program.shell(
                                    scratch,
                                    "printf 'set/large/0.tar\\nset/small\\n'"
                                            + " | TMPDIR=\"$3\" \"$1\" warm \"$2\" --manifest -"
                                            + " $(yes set/large/1.tar | head -n 600)",
                                    MountedBucket.penstock().getFirst(),
                                    mount.path(),
                                    temporary.toString())
                            .orThrow())
                    .contains(SMALL + 2 + " fetched", "599 cached");
            Await.until("the list is deleted", () -> isEmpty(temporary));

            assertThat(Program.shell(
                                    scratch,
                                    "TMPDIR=\"$3\" \"$1\" unpin \"$2\" $(yes set/large | head -n 1000)",
                                    MountedBucket.penstock().getFirst(),
                                    mount.path(),
                                    temporary.toString())
                            .out())
                    .contains("none of these files is pinned");
            assertThat(temporary).isEmptyDirectory();
        }
    }

    private static boolean isEmpty(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.findAny().isEmpty();
        }
    }

    @Tag("long")
    @Test
    void warm_theClientIsEnded_goesOnInTheMount() throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        front.treat(request -> {
            if (request.isRead()) {
                awaitQuietly(ended);
            }
            return Treatment.PASS;
        });
        try (MountedBucket mount = mount()) {
            Path said = scratch.resolve("said");
            List<String> line = new ArrayList<>(MountedBucket.penstock());
            line.addAll(List.of("warm", mount.path().toString(), "set"));
            Process client = new ProcessBuilder(line)
                    .redirectErrorStream(true)
                    .redirectOutput(said.toFile())
                    .start();
            try {
                Await.until(
                        "the job runs",
                        () -> penstock(mount, "warm", "--status").out().contains("running"));
                client.destroy();
                client.waitFor();
                assertThat(Files.readString(said)).contains("Job 1 continues in the mount");
            } finally {
                client.destroyForcibly();
                ended.countDown();
            }
            Await.until("all is there", () -> onNvme(mount, "set") == 100);
        }
    }

    @Tag("long")
    @Test
    void why_whileTheStoreIsDown_tellsWhatIsKnown() throws Exception {
        try (MountedBucket mount = mount("--s3-retry-deadline", "0s", "-o", KNOWN)) {
            Program.shell(mount.path(), "ls -R .").orThrow(); // names are known from here on
            penstock(mount, "warm", "set/large/0.tar").orThrow();
            front.treat(_ -> Treatment.answer(503, "SlowDown"));
            assertThat(why(mount, "set/large/0.tar").orThrow())
                    .contains("9MiB on NVMe", "costs nothing", "by penstock warm", "no recent read reached the mount");
            assertThat(why(mount, "set/large/1.tar").orThrow()).contains("only in the bucket", "2 GETs");
            assertThat(why(mount, "set/large").out()).contains("is a folder");
        }
    }

    private static Program.Result why(MountedBucket mount, String file) {
        List<String> line = new ArrayList<>(MountedBucket.penstock());
        line.addAll(List.of("why", mount.path().resolve(file).toString()));
        return Program.run(Path.of("/"), line);
    }
}

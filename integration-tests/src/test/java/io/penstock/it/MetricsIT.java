package io.penstock.it;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testing.TestData;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The output of a mount for monitoring systems, its access log and a flight recording, while programs read. */
@Timeout(180)
final class MetricsIT {
    private static final int READERS = 16;

    private static final S3Server SERVER = S3Server.shared();

    @TempDir
    private Path scratch;

    private TestBucket bucket;
    private final HttpClient client = HttpClient.newHttpClient();
    private final List<TestData> objects = IntStream.range(0, 4)
            .mapToObj(i -> TestData.of("data/%d.bin".formatted(i), (3L << 20) + i * 12_345L))
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

    /** On a host of the loopback network where nothing else listens that could take the port meanwhile. */
    private static String freeAddress() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.2"))) {
            return "127.0.0.2:" + socket.getLocalPort();
        }
    }

    private HttpResponse<String> get(String address) throws IOException, InterruptedException {
        URI metrics = URI.create("http://" + address + "/metrics");
        return client.send(HttpRequest.newBuilder(metrics).build(), BodyHandlers.ofString());
    }

    private String scrape(String address) throws IOException, InterruptedException {
        HttpResponse<String> response = get(address);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
    }

    private static double value(String scraped, String start) {
        return scraped.lines()
                .filter(line -> line.startsWith(start))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    private Program.Result penstock(String command, MountedBucket mount, String... options) throws Exception {
        List<String> line = new ArrayList<>(MountedBucket.penstock());
        line.addAll(List.of(command, mount.path().toString()));
        line.addAll(List.of(options));
        return Program.run(scratch, line);
    }

    private String jcmd(MountedBucket mount, String... command) throws Exception {
        Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
        List<String> line = new ArrayList<>(
                List.of(jcmd.toString(), Long.toString(mount.process().pid())));
        line.addAll(List.of(command));
        return Program.run(scratch, line).orThrow();
    }

    /** Reads at random, a few times and until told to end, with pauses. Returns the number of reads. */
    private int readUntil(AtomicBoolean isEnough, Path folder, Random random) throws IOException, InterruptedException {
        int reads = 0;
        while (reads < 20 || !isEnough.get()) {
            TestData data = objects.get(random.nextInt(objects.size()));
            long position = random.nextLong(data.size());
            ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(100_000, data.size() - position));
            try (FileChannel channel = FileChannel.open(folder.resolve(data.name()))) {
                while (buffer.hasRemaining() && channel.read(buffer, position + buffer.position()) > 0) {}
            }
            data.verify(position, buffer.flip());
            reads++;
            Thread.sleep(5);
        }
        return reads;
    }

    @Test
    void metricsAndLog_while16ThreadsRead_tellOfTheReads() throws Exception {
        String address = freeAddress();
        Path accesses = scratch.resolve("access.log");
        try (MountedBucket mount = MountedBucket.mount(
                        SERVER,
                        bucket.name(),
                        scratch,
                        "--fuse-passthrough",
                        "off",
                        "--metrics",
                        address,
                        "--log-access",
                        accesses.toString());
                ExecutorService readers = Executors.newFixedThreadPool(READERS)) {
            AtomicBoolean isEnough = new AtomicBoolean();
            List<Future<Integer>> running = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                Random mine = new Random(i);
                running.add(readers.submit(() -> readUntil(isEnough, mount.path(), mine)));
            }
            try {
                double before = value(scrape(address), "penstock_calls_total{call=\"read\"");
                assertThat(value(scrape(address), "penstock_uptime_seconds")).isPositive();
                assertThat(value(scrape(address), "penstock_calls_total{call=\"read\""))
                        .isGreaterThanOrEqualTo(before);
            } finally {
                isEnough.set(true);
            }
            for (Future<Integer> reader : running) {
                assertThat(reader.get()).isPositive();
            }
            verifyScrape(scrape(address));
            assertThat(penstock("stats", mount, "--once").orThrow()).containsPattern("read +\\d+ +[0-9.]+[mu]s");
            mount.terminate();
        }
        assertThat(Files.readAllLines(accesses, UTF_8))
                .anyMatch(line -> line.matches("\\S+ read \\d+ [1-9]\\d* OK \\d+ /data/\\d\\.bin"));
    }

    private void verifyScrape(String scraped) {
        assertThat(value(scraped, "penstock_calls_total{call=\"read\"")).isPositive();
        assertThat(value(scraped, "penstock_fetched_bytes_total"))
                .isGreaterThanOrEqualTo((double) objects.getFirst().size());
        assertThat(value(scraped, "penstock_call_bytes_total{call=\"read\"")).isGreaterThanOrEqualTo(1);
        assertThat(scraped).contains("source=\"s3://" + bucket.name() + "\"", "mount=\"" + scratch.resolve("mnt"));
    }

    @Tag("long")
    @Test
    void recording_ofAColdRead_hasItsFetchesAndCommits() throws Exception {
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
            Path file = scratch.resolve("mount.jfr");
            jcmd(mount, "JFR.start", "name=test", "settings=profile");
            Program.shell(scratch, "cat \"$1\"/data/* >/dev/null && echo new > \"$1\"/new", mount.path())
                    .orThrow();
            jcmd(mount, "JFR.stop", "name=test", "filename=" + file);

            List<RecordedEvent> events = RecordingFile.readAllEvents(file);
            assertThat(events)
                    .filteredOn(event -> event.getEventType().getName().equals("penstock.Fetch"))
                    .extracting(event -> event.getString("key"))
                    .contains("data/0.bin");
            assertThat(events)
                    .filteredOn(event -> event.getEventType().getName().equals("penstock.Commit"))
                    .extracting(event -> event.getString("key"))
                    .contains("new");
        }
    }

    @Tag("long")
    @Test
    void scrapes_whileTheMountEnds_doNotKeepIt() throws Exception {
        String address = freeAddress();
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch, "--metrics", address);
                ExecutorService scraper = Executors.newSingleThreadExecutor()) {
            Future<Integer> worst = scraper.submit(() -> {
                int highest = 0;
                try {
                    while (true) {
                        highest = Math.max(highest, get(address).statusCode());
                    }
                } catch (IOException ended) {
                    return highest;
                }
            });
            Program.shell(scratch, "cat \"$1\"/data/* >/dev/null; umount \"$1\"", mount.path())
                    .orThrow();
            assertThat(mount.awaitEnd()).isTrue();
            assertThat(mount.process().exitValue()).isZero();
            assertThat(worst.get()).isIn(200, 503);
            assertThat(mount.log()).doesNotContain("ERROR");
        }
    }

    @Test
    void mount_atAnAddressInUse_isRefusedAndNamesTheSetting() throws Exception {
        try (ServerSocket used = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                MountedBucket mount = MountedBucket.start(
                        SERVER, bucket.name(), scratch, "--metrics", "127.0.0.1:" + used.getLocalPort())) {
            assertThat(mount.awaitEnd()).isTrue();
            assertThat(mount.process().exitValue()).isEqualTo(1);
            assertThat(mount.log()).contains("metrics.prometheus: cannot listen on 127.0.0.1:" + used.getLocalPort());
        }
    }

    @Tag("long")
    @Test
    void mount_withoutMetrics_loadsNothingOfMicrometer() throws Exception {
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
            assertThat(jcmd(mount, "VM.class_hierarchy"))
                    .contains("io.penstock.serve.metrics.Metrics")
                    .doesNotContain("io.micrometer", "httpserver");
        }
    }

    /** With Prometheus' own parser, in Python. */
    @Tag("long")
    @Test
    void scrape_byThePrometheusParser_isValid() throws Exception {
        String python = PythonEnvironment.METRICS.interpreter().toString();
        String address = freeAddress();
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch, "--metrics", address)) {
            Program.shell(scratch, "cat \"$1\"/data/* >/dev/null", mount.path()).orThrow();
            Path text = Files.writeString(scratch.resolve("scrape.txt"), scrape(address), UTF_8);
            String parsed = Program.run(
                            scratch,
                            List.of(
                                    python,
                                    "-c",
                                    "import sys; from prometheus_client.parser import text_string_to_metric_families"
                                            + " as p\n"
                                            + "for f in p(open(sys.argv[1]).read()): print(f.name, f.type,"
                                            + " len(f.samples))",
                                    text.toString()))
                    .orThrow();

            assertThat(parsed.lines())
                    .contains("penstock_uptime_seconds gauge 1", "penstock_gets counter 2")
                    .noneMatch(line -> line.contains("unknown") || line.endsWith(" 0"));
        }
    }
}

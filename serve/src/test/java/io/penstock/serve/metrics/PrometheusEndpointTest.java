package io.penstock.serve.metrics;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.serve.control.MountStatistics;
import io.penstock.settings.process.RefusedException;
import io.penstock.settings.process.Version;
import io.penstock.testing.Seeded;
import io.penstock.testing.TestTier;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class PrometheusEndpointTest {
    private static final String LABELS = "mount=\"/mnt/data\",source=\"s3://data/\\\"a\\\"\"";

    private final HttpClient client = HttpClient.newHttpClient();
    private final AtomicReference<MountStatistics> statistics = new AtomicReference<>(Statistics.of(1, true));
    private PrometheusEndpoint endpoint;

    @BeforeEach
    void open() throws RefusedException {
        endpoint = PrometheusEndpoint.open(InetSocketAddress.createUnresolved("127.0.0.1", 0));
    }

    @AfterEach
    void close() {
        endpoint.close();
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return client.send(
                HttpRequest.newBuilder(URI.create(
                                "http://127.0.0.1:" + endpoint.address().getPort() + path))
                        .build(),
                BodyHandlers.ofString());
    }

    private String scrape() throws IOException, InterruptedException {
        HttpResponse<String> response = get("/metrics");
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("content-type").orElseThrow()).startsWith("text/plain; version=0.0.4");
        return response.body();
    }

    @Test
    void scrape_onceTheListingIsOutOfDate_hasNoShareOfIt() throws Exception {
        endpoint.publish(statistics::get);
        assertThat(scrape()).contains("penstock_names_listed_ratio{" + LABELS + "} 0.75");
        statistics.set(Statistics.of(1, Statistics.WRITING, Map.of()));

        assertThat(scrape()).contains("penstock_names_listed_ratio{" + LABELS + "} NaN");
    }

    @Test
    void scrape_beforeThereIsAMount_isUnavailable() throws Exception {
        assertThat(get("/metrics").statusCode()).isEqualTo(503);
        assertThat(get("/").statusCode()).isEqualTo(404);
    }

    @Test
    void scrape_ofAMount_hasItsStatisticsOfThatMoment() throws Exception {
        endpoint.publish(statistics::get);

        assertThat(scrape().lines())
                .contains(
                        "penstock_uptime_seconds{" + LABELS + "} 1.0",
                        "penstock_page_read_bytes_total{from=\"memory\"," + LABELS + "} 15.0",
                        "penstock_page_reads_total{from=\"nvme\"," + LABELS + "} 2.0",
                        "penstock_reader_wait_seconds_total{cause=\"store\"," + LABELS + "} 4.0",
                        "penstock_reader_wait_seconds_total{cause=\"limits\"," + LABELS + "} 3.0",
                        "penstock_gets_total{cause=\"readahead\"," + LABELS + "} 22.0",
                        "penstock_cache_bytes{" + LABELS + ",tier=\"nvme\"} 14.0",
                        "penstock_build_info{mount=\"/mnt/data\",source=\"s3://data/\\\"a\\\"\",version=\""
                                + Version.number() + "\"}" + " 1",
                        "penstock_saved_bytes{" + LABELS + "} 61.0",
                        "penstock_saved_cost{" + LABELS + "} 63.0",
                        "penstock_cache_limit_bytes{" + LABELS + "} 71.0",
                        "penstock_staging_limit_bytes{" + LABELS + "} 72.0",
                        "penstock_cache_pinned_bytes{" + LABELS + "} 73.0",
                        "penstock_names_listed_ratio{" + LABELS + "} 0.75",
                        "penstock_backlog_files{" + LABELS + "} 3.0",
                        "penstock_calls_in_flight{" + LABELS + "} 41.0",
                        "penstock_requests_in_flight{" + LABELS + "} 42.0",
                        "penstock_native_bytes{mount=\"/mnt/data\",share=\"replies\",source=\"s3://data/\\\"a\\\"\"}"
                                + " 44.0",
                        "penstock_share_bytes_total{direction=\"in\"," + LABELS + "} 52.0",
                        "penstock_share_fallbacks_total{cause=\"timeout\"," + LABELS + "} 54.0",
                        "penstock_call_bytes_total{call=\"read\"," + LABELS + "} 4096.0",
                        "penstock_call_errors_total{call=\"read\",errno=\"EIO\"," + LABELS + "} 3.0",
                        "penstock_calls_within_total{call=\"read\",le=\"0.000065536\"," + LABELS + "} 4.0",
                        "penstock_calls_within_total{call=\"read\",le=\"+Inf\"," + LABELS + "} 10.0");
        statistics.set(Statistics.of(2.5, true));
        assertThat(scrape().lines()).contains("penstock_uptime_seconds{" + LABELS + "} 2.5");
    }

    @Test
    void scrape_ofAReadOnlyMountWithoutCalls_hasNeither() throws Exception {
        statistics.set(Statistics.of(1, null, Map.of()));
        endpoint.publish(statistics::get);

        assertThat(scrape())
                .contains("penstock_uptime_seconds")
                .doesNotContain("backlog")
                .doesNotContain("penstock_calls_total", "penstock_call_", "penstock_share");
        statistics.set(Statistics.of(1, false));
        assertThat(scrape()).contains("penstock_calls_total{call=\"read\"").doesNotContain("backlog");
    }

    @Test
    void scrape_whileTheMountCloses_isUnavailable() throws Exception {
        AtomicBoolean isClosed = new AtomicBoolean();
        endpoint.publish(() -> {
            if (isClosed.get()) {
                throw new IllegalStateException("closed");
            }
            return Statistics.of(1, true);
        });
        isClosed.set(true);

        assertThat(get("/metrics").statusCode()).isEqualTo(503);
    }

    @Test
    void scrape_whileOthersDoNotFinishTheirRequests_isServed() throws Exception {
        endpoint.publish(statistics::get);
        List<Socket> unfinished = new ArrayList<>();
        try {
            for (int i = 0; i < 40; i++) {
                unfinished.add(send("GET /metrics HTTP/1.1\r\nHost"));
            }
            assertThat(scrape()).contains("penstock_uptime_seconds");
        } finally {
            for (Socket each : unfinished) {
                each.close();
            }
        }
    }

    @Test
    @Timeout(300)
    void scrape_amongRequestsOfAllKinds_isServed() {
        endpoint.publish(statistics::get);
        byte[] right = "GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nAccept: */*\r\n\r\n0123456789"
                .getBytes(ISO_8859_1);
        Seeded.check(3, random -> {
            Deque<Socket> silent = new ArrayDeque<>();
            for (int i = 0; i < TestTier.choose("penstock.inputs", 1_000, 10_000); i++) {
                byte[] input = Arrays.copyOf(right, random.nextInt(right.length) + 1);
                for (int changes = random.nextInt(4); changes > 0; changes--) {
                    input[random.nextInt(input.length)] = (byte) random.nextInt();
                }
                silent.add(send(new String(input, ISO_8859_1)));
                if (silent.size() > random.nextInt(60)) {
                    silent.removeFirst().close();
                }
                if (i % 200 == 0) {
                    assertThat(scrape()).contains("penstock_uptime_seconds{" + LABELS + "} 1.0");
                }
            }
            for (Socket each : silent) {
                each.close();
            }
        });
    }

    private Socket send(String request) throws IOException {
        Socket socket =
                new Socket(endpoint.address().getAddress(), endpoint.address().getPort());
        try {
            socket.getOutputStream().write(request.getBytes(ISO_8859_1));
        } catch (IOException e) {
            // it was refused
        }
        return socket;
    }

    @Test
    void open_atAnAddressInUse_namesTheSetting() {
        InetSocketAddress used = endpoint.address();

        assertThatThrownBy(
                        () -> PrometheusEndpoint.open(InetSocketAddress.createUnresolved("127.0.0.1", used.getPort())))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("metrics.prometheus: cannot listen on 127.0.0.1:" + used.getPort())
                .hasMessageContaining("--metrics");
        assertThatThrownBy(() -> PrometheusEndpoint.open(InetSocketAddress.createUnresolved("no.such.host.invalid", 9)))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("no.such.host.invalid:9");
    }

    @Test
    void names_ofAllMetrics_areThoseOfTheList() throws Exception {
        endpoint.publish(statistics::get);
        Set<String> scraped = scrape().lines()
                .filter(line -> line.startsWith("# TYPE "))
                .map(line -> line.split(" ", 4)[2])
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(scraped).isEqualTo(StatisticsPageTest.metrics());
    }

    @Test
    void series_ofAMountThatWrites_areAsManyAsTheDocumentationSays() throws Exception {
        statistics.set(Statistics.of(1, Statistics.WRITING, Map.of()));
        endpoint.publish(statistics::get);
        long series = scrape().lines().filter(line -> !line.startsWith("#")).count();

        assertThat(Files.readString(Path.of("../docs/OPERATIONS.md")))
                .contains("A mount that writes has " + series + " series,");
    }
}

package io.penstock.serve.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.AggregationTemporality;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

@Timeout(30)
class OtlpExporterTest {
    private final BlockingQueue<Report> reports = new ArrayBlockingQueue<>(100);
    private HttpServer receiver;

    /**
     * A request.
     *
     * @param type the content type of its body
     */
    private record Report(String path, String type, ExportMetricsServiceRequest body) {
        private ResourceMetrics resource() {
            assertThat(body.getResourceMetricsList()).hasSize(1);
            return body.getResourceMetrics(0);
        }

        /** The metrics by name: there is one of each. */
        private Map<String, Metric> metrics() {
            return resource().getScopeMetricsList().stream()
                    .flatMap(scope -> scope.getMetricsList().stream())
                    .collect(Collectors.toMap(Metric::getName, Function.identity()));
        }

        private Metric metric(String name) {
            return Objects.requireNonNull(metrics().get(name), name);
        }
    }

    private static Map<String, String> texts(List<KeyValue> attributes) {
        return attributes.stream()
                .collect(Collectors.toMap(
                        KeyValue::getKey, each -> each.getValue().getStringValue()));
    }

    /** The only point with this attribute. */
    private static NumberDataPoint point(List<NumberDataPoint> points, String attribute, String value) {
        List<NumberDataPoint> found = points.stream()
                .filter(point -> value.equals(texts(point.getAttributesList()).get(attribute)))
                .toList();
        assertThat(found).hasSize(1);
        return found.getFirst();
    }

    @BeforeEach
    void receive() throws IOException {
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/", exchange -> {
            reports.add(new Report(
                    exchange.getRequestURI().toString(),
                    exchange.getRequestHeaders().getFirst("Content-Type"),
                    ExportMetricsServiceRequest.parseFrom(
                            exchange.getRequestBody().readAllBytes())));
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        receiver.start();
    }

    @AfterEach
    void stop() {
        receiver.stop(0);
    }

    private URI at(String path) {
        return URI.create("http://127.0.0.1:" + receiver.getAddress().getPort() + path);
    }

    @Test
    void report_eachInterval_hasTheMetricsAndTheirLabels() throws Exception {
        OtlpExporter exporter = new OtlpExporter(at(""), Duration.ofSeconds(1));
        exporter.publish(() -> Statistics.of(1, true));
        try {
            Report report = reports.take();
            assertThat(report.path()).isEqualTo("/v1/metrics");
            assertThat(report.type()).isEqualTo("application/x-protobuf");
            assertThat(texts(report.resource().getResource().getAttributesList()))
                    .containsEntry("service.name", "penstock");
            Map<String, String> labels = Map.of("source", "s3://data/\"a\"", "mount", "/mnt/data");
            assertThat(report.metrics().values())
                    .allSatisfy(metric -> assertThat(points(metric))
                            .isNotEmpty()
                            .allSatisfy(point ->
                                    assertThat(texts(point.getAttributesList())).containsAllEntriesOf(labels)));
        } finally {
            exporter.close();
        }
    }

    /** Names lack the units and suffixes of Prometheus; times are in seconds. */
    @Test
    void report_ofGaugesAndCounters_hasTheirValuesAndUnits() throws Exception {
        OtlpExporter exporter = new OtlpExporter(at(""), Duration.ofHours(1));
        exporter.publish(() -> Statistics.of(17.5, true));
        exporter.close();

        Report report = reports.take();
        Metric uptime = report.metric("penstock.uptime");
        assertThat(uptime.getUnit()).isEqualTo("seconds");
        assertThat(uptime.getGauge().getDataPointsList())
                .singleElement()
                .extracting(NumberDataPoint::getAsDouble)
                .isEqualTo(17.5);
        List<NumberDataPoint> cached =
                report.metric("penstock.cache").getGauge().getDataPointsList();
        assertThat(point(cached, "tier", "nvme").getAsDouble()).isEqualTo(14);
        Metric read = report.metric("penstock.page.read");
        assertThat(read.getUnit()).isEqualTo("bytes");
        assertThat(read.getSum().getIsMonotonic()).isTrue();
        assertThat(read.getSum().getAggregationTemporality())
                .isEqualTo(AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE);
        assertThat(value(read, "from", "memory")).isEqualTo(15);
        assertThat(value(report.metric("penstock.calls"), "call", "read")).isEqualTo(10);
        assertThat(value(report.metric("penstock.call.duration"), "call", "read"))
                .isEqualTo(2.5);
        assertThat(value(report.metric("penstock.calls.within"), "le", "0.000065536"))
                .isEqualTo(4);
    }

    private static double value(Metric sum, String attribute, String value) {
        return point(sum.getSum().getDataPointsList(), attribute, value).getAsDouble();
    }

    private static List<NumberDataPoint> points(Metric metric) {
        return metric.hasGauge()
                ? metric.getGauge().getDataPointsList()
                : metric.getSum().getDataPointsList();
    }

    @Test
    void close_ofAMount_sendsTheLast_toThePathOfTheUrl() throws Exception {
        OtlpExporter exporter = new OtlpExporter(at("/elsewhere"), Duration.ofHours(1));
        exporter.publish(() -> Statistics.of(1, true));

        exporter.close();

        Report report = reports.take();
        assertThat(report.path()).isEqualTo("/elsewhere");
        assertThat(report.metrics()).containsKey("penstock.uptime");
    }

    @Test
    void report_theReceiverIsDownAndBack_saysEachOnceInALine() throws Exception {
        AtomicInteger answers = new AtomicInteger();
        receiver.createContext("/busy", exchange -> {
            exchange.getRequestBody().readAllBytes();
            int answer = answers.incrementAndGet();
            exchange.sendResponseHeaders(answer <= 2 ? 503 : 200, -1);
            exchange.close();
        });
        ListAppender<ILoggingEvent> said = new ListAppender<>();
        said.start();
        Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        Level level = root.getLevel();
        root.setLevel(Level.INFO);
        root.addAppender(said);
        OtlpExporter exporter = new OtlpExporter(at("/busy"), Duration.ofSeconds(1));
        exporter.publish(() -> Statistics.of(1, true));
        try {
            while (answers.get() < 4) {
                Thread.sleep(10);
            }
        } finally {
            exporter.close();
            root.detachAppender(said);
            root.setLevel(level);
        }
        assertThat(said.list)
                .filteredOn(event -> event.getLevel().isGreaterOrEqual(Level.WARN))
                .singleElement()
                .satisfies(event -> {
                    assertThat(event.getFormattedMessage())
                            .startsWith("metrics.otlp: cannot send metrics to " + at("/busy"));
                    assertThat(event.getThrowableProxy()).isNull();
                });
        assertThat(said.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .filteredOn(text -> text.startsWith("metrics.otlp"))
                .hasSize(2)
                .last()
                .isEqualTo("metrics.otlp: " + at("/busy") + " accepts metrics again");
    }

    @Test
    void close_withoutAReceiver_ends() throws IOException {
        int unused;
        try (ServerSocket socket = new ServerSocket(0)) {
            unused = socket.getLocalPort();
        }
        OtlpExporter exporter = new OtlpExporter(URI.create("http://127.0.0.1:" + unused), Duration.ofHours(1));
        exporter.publish(() -> Statistics.of(1, true));

        exporter.close();

        new OtlpExporter(at(""), Duration.ofHours(1)).close(); // as after a failed mount
        assertThat(reports).isEmpty();
    }
}

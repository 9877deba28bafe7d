package io.penstock.cli.metrics;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

@Timeout(30)
class OtlpExporterTest {
    private final BlockingQueue<String> reports = new ArrayBlockingQueue<>(100);
    private HttpServer receiver;

    @BeforeEach
    void receive() throws IOException {
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/", exchange -> {
            reports.add(exchange.getRequestURI() + "\n"
                    + new String(exchange.getRequestBody().readAllBytes(), ISO_8859_1));
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
            assertThat(reports.take())
                    .startsWith("/v1/metrics\n")
                    .contains("penstock.uptime", "penstock.calls.within", "/mnt/data", "s3://data/");
        } finally {
            exporter.close();
        }
    }

    @Test
    void close_ofAMount_sendsTheLast_toThePathOfTheUrl() throws Exception {
        OtlpExporter exporter = new OtlpExporter(at("/elsewhere"), Duration.ofHours(1));
        exporter.publish(() -> Statistics.of(1, true));

        exporter.close();

        assertThat(reports.take()).startsWith("/elsewhere\n").contains("penstock.uptime");
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
        }
        assertThat(said.list)
                .filteredOn(event -> event.getLevel().isGreaterOrEqual(Level.WARN))
                .singleElement()
                .satisfies(event -> {
                    assertThat(event.getFormattedMessage())
                            .startsWith("metrics.otlp: " + at("/busy") + " does not take");
                    assertThat(event.getThrowableProxy()).isNull();
                });
        assertThat(said.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .filteredOn(text -> text.startsWith("metrics.otlp"))
                .hasSize(2)
                .last()
                .isEqualTo("metrics.otlp: " + at("/busy") + " takes the metrics again");
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

        new OtlpExporter(at(""), Duration.ofHours(1)).close(); // of a mount that did not come to be
        assertThat(reports).isEmpty();
    }
}

package io.penstock.cli.metrics;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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

package io.penstock.serve.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.penstock.serve.control.MountStatistics;
import io.penstock.settings.MetricsSettings;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers Prometheus scrapes at {@code /metrics}. Statistics are read only for a scrape.
 *
 * <pre>
 *   listens: 503 ──publish──▶ the mount's metrics ──close──▶ ended
 * </pre>
 */
final class PrometheusEndpoint implements Exporter {
    private static final Logger log = LoggerFactory.getLogger(PrometheusEndpoint.class);

    private static final String PATH = "/metrics";

    /** Connections that wait to be accepted. With the default of 50, a few other clients delay a scrape by a second. */
    private static final int BACKLOG = 256;

    private static final String TEXT = "text/plain; charset=utf-8";

    /** The text format's version 0.0.4, which every Prometheus reads. */
    private static final String EXPOSITION = "text/plain; version=0.0.4; charset=utf-8";

    private final HttpServer server;

    /** One thread for each request. A request may never finish: the launcher's options limit its time. */
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("metrics-", 0).factory());

    /** Null until {@link #publish}. */
    private volatile @Nullable Scraped scraped;

    private record Scraped(PrometheusMeterRegistry registry, MountMeters meters) {
        synchronized String text() {
            meters.refresh();
            return registry.scrape(EXPOSITION);
        }
    }

    private PrometheusEndpoint(HttpServer server) {
        this.server = server;
        server.createContext("/", this::answer);
        server.setExecutor(threads);
        server.start();
    }

    /** @throws RefusedException if it cannot listen on the address */
    static PrometheusEndpoint open(InetSocketAddress address) throws RefusedException {
        try {
            InetAddress host = InetAddress.getByName(address.getHostString());
            return new PrometheusEndpoint(HttpServer.create(new InetSocketAddress(host, address.getPort()), BACKLOG));
        } catch (IOException e) {
            throw new RefusedException(
                    MetricsSettings.PROMETHEUS + ": cannot listen on " + address.getHostString() + ":"
                            + address.getPort() + " (" + e.getMessage()
                            + "); choose an address of this machine and a free port with "
                            + MetricsSettings.PROMETHEUS.optionName());
        }
    }

    /** For tests. */
    InetSocketAddress address() {
        return server.getAddress();
    }

    @Override
    public void publish(Supplier<MountStatistics> statistics) {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        scraped = new Scraped(registry, new MountMeters(registry, statistics));
        log.info("Metrics for Prometheus are at http:/{}{}", server.getAddress(), PATH);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            Scraped now = scraped;
            if (!exchange.getRequestURI().getPath().equals(PATH)) {
                send(exchange, 404, TEXT, "metrics are at " + PATH + "\n");
            } else if (now == null) {
                send(exchange, 503, TEXT, "the mount is starting\n");
            } else {
                scrape(exchange, now);
            }
        }
    }

    private static void scrape(HttpExchange exchange, Scraped now) throws IOException {
        String text;
        try {
            text = now.text();
        } catch (RuntimeException e) {
            log.debug("Cannot collect metrics", e);
            send(exchange, 503, TEXT, "cannot collect metrics: " + e.getMessage() + "\n");
            return;
        }
        send(exchange, 200, EXPOSITION, text);
    }

    private static void send(HttpExchange exchange, int status, String type, String text) throws IOException {
        byte[] body = text.getBytes(UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(status, -1);
        } else {
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}

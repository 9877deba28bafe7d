package io.penstock.serve.metrics;

import io.micrometer.core.ipc.http.HttpUrlConnectionSender;
import io.micrometer.registry.otlp.OtlpConfig;
import io.micrometer.registry.otlp.OtlpHttpMetricsSender;
import io.micrometer.registry.otlp.OtlpMeterRegistry;
import io.micrometer.registry.otlp.OtlpMetricsSender;
import io.penstock.serve.control.MountStatistics;
import io.penstock.settings.MetricsSettings;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends metrics to an OpenTelemetry receiver (OTLP over HTTP), at intervals and once more at the end. */
final class OtlpExporter implements Exporter {
    /** The path of metrics if the URL has none, from the protocol's specification, "OTLP/HTTP Request". */
    private static final String PATH = "/v1/metrics";

    /** A receiver that does not respond must not keep a mount's process alive. */
    private static final Duration END_PATIENCE = Duration.ofSeconds(3);

    private static final Logger log = LoggerFactory.getLogger(OtlpExporter.class);

    private final OtlpConfig config;

    /** Null until {@link #publish}. */
    private volatile @Nullable MountMeters meters;

    /** Null until {@link #publish}. Confined to the thread that publishes and closes. */
    private @Nullable OtlpMeterRegistry registry;

    OtlpExporter(URI receiver, Duration interval) {
        boolean isBare = receiver.getPath().isEmpty() || receiver.getPath().equals("/");
        String url = isBare ? receiver.resolve(PATH).toString() : receiver.toString();
        this.config = new OtlpConfig() {
            @Override
            public @Nullable String get(String key) {
                return null; // settings only
            }

            @Override
            public String url() {
                return url;
            }

            @Override
            public Duration step() {
                return interval;
            }

            @Override
            public Map<String, String> resourceAttributes() {
                return Map.of("service.name", "penstock");
            }

            // Each report calls this first, so the statistics are read here.
            @Override
            public int batchSize() {
                refresh();
                return OtlpConfig.super.batchSize();
            }
        };
    }

    private void refresh() {
        MountMeters published = meters;
        if (published != null) { // null until publish sets it: the registry's thread starts before
            published.refresh();
        }
    }

    @Override
    public void publish(Supplier<MountStatistics> statistics) {
        OtlpMeterRegistry made =
                OtlpMeterRegistry.builder(config).metricsSender(new Sender()).build();
        meters = new MountMeters(made, statistics);
        registry = made;
    }

    /** Logs once that reports fail, and once that they arrive again. Used by one thread at a time. */
    private static final class Sender implements OtlpMetricsSender {
        private final OtlpMetricsSender http = new OtlpHttpMetricsSender(new HttpUrlConnectionSender());
        private volatile boolean fails;

        @Override
        public void send(Request request) {
            try {
                http.send(request);
                if (fails) {
                    fails = false;
                    log.info("{}: {} accepts metrics again", MetricsSettings.OTLP, request.getAddress());
                }
            } catch (Exception e) { // of any kind: the next report is sent anyway
                if (!fails) {
                    fails = true;
                    log.warn(
                            "{}: cannot send metrics to {}, will retry: {}",
                            MetricsSettings.OTLP,
                            request.getAddress(),
                            reason(e));
                }
            }
        }

        private static String reason(Exception e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            return String.valueOf(cause.getMessage()).lines().findFirst().orElse("");
        }
    }

    @Override
    public void close() {
        OtlpMeterRegistry ending = registry;
        if (ending == null) {
            return;
        }
        Thread end = Thread.ofVirtual().name("metrics end").start(ending::close);
        try {
            end.join(END_PATIENCE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

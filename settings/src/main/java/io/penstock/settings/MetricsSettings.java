package io.penstock.settings;

import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;

/** The {@link Settings} for metrics. */
public final class MetricsSettings {
    public static final Setting<InetSocketAddress> PROMETHEUS = Setting.of(
                    "metrics.prometheus",
                    ValueType.address(),
                    "Where Prometheus may scrape metrics of the mount, at /metrics. Every client that reaches the"
                            + " address can read them.")
            .alias("metrics");

    public static final Setting<URI> OTLP = Setting.of(
            "metrics.otlp",
            ValueType.url(),
            "The OpenTelemetry receiver (OTLP over HTTP) to send metrics to. The default path is /v1/metrics.");

    public static final Setting<Duration> OTLP_INTERVAL = Setting.of(
                    "metrics.otlp-interval",
                    ValueType.duration(Duration.ofSeconds(1), Duration.ofHours(1)),
                    "The time between two reports to metrics.otlp.")
            .withDefault("60s");

    static final Settings.Group METRICS = new Settings.Group("Metrics", List.of(PROMETHEUS, OTLP, OTLP_INTERVAL));

    private MetricsSettings() {}
}

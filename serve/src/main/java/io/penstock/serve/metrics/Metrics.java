package io.penstock.serve.metrics;

import io.penstock.serve.control.MountStatistics;
import io.penstock.settings.Configuration;
import io.penstock.settings.MetricsSettings;
import io.penstock.settings.process.RefusedException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** The configured exporters of a mount's metrics, if any. Not thread-safe. */
public final class Metrics implements AutoCloseable {
    private final List<Exporter> exporters = new ArrayList<>();

    private Metrics() {}

    /**
     * Opens the endpoints that the settings name. Until {@link #publish} they have no metrics.
     *
     * @throws RefusedException if an address cannot be used; the message names the setting
     */
    public static Metrics open(Configuration configuration) throws RefusedException {
        Metrics metrics = new Metrics();
        InetSocketAddress address =
                configuration.find(MetricsSettings.PROMETHEUS).orElse(null);
        if (address != null) {
            metrics.exporters.add(PrometheusEndpoint.open(address));
        }
        URI receiver = configuration.find(MetricsSettings.OTLP).orElse(null);
        if (receiver != null) {
            metrics.exporters.add(new OtlpExporter(receiver, configuration.get(MetricsSettings.OTLP_INTERVAL)));
        }
        return metrics;
    }

    /** Starts to export the statistics of this mount. Call once. */
    public void publish(Supplier<MountStatistics> statistics) {
        exporters.forEach(exporter -> exporter.publish(statistics));
    }

    @Override
    public void close() {
        exporters.forEach(Exporter::close);
    }
}

package io.penstock.cli.metrics;

import io.micrometer.core.instrument.Clock;
import io.micrometer.registry.otlp.OtlpConfig;
import io.micrometer.registry.otlp.OtlpMeterRegistry;
import io.penstock.cli.control.MountStatistics;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sends metrics to a receiver of OpenTelemetry's protocol (OTLP over HTTP), again and again and once more at the end. */
final class OtlpExporter implements Exporter {
    /** The path of metrics, if the URL has none: the protocol's specification, "OTLP/HTTP Request". */
    private static final String PATH = "/v1/metrics";

    /** A receiver that does not answer must not keep a mount's process. */
    private static final Duration END_PATIENCE = Duration.ofSeconds(3);

    private final OtlpConfig config;

    /** Null before there is a mount. Confined to the thread that publishes and closes. */
    private @Nullable Registry registry;

    /** Reads the statistics before each report. */
    private static final class Registry extends OtlpMeterRegistry {
        private volatile @Nullable MountMeters meters;

        Registry(OtlpConfig config) {
            super(config, Clock.SYSTEM);
        }

        void publish(Supplier<MountStatistics> statistics) {
            meters = new MountMeters(this, statistics);
        }

        @Override
        protected void publish() {
            MountMeters published = meters;
            if (published != null) { // the registry's thread starts with it
                published.refresh();
                super.publish();
            }
        }
    }

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
        };
    }

    @Override
    public void publish(Supplier<MountStatistics> statistics) {
        Registry made = new Registry(config);
        made.publish(statistics);
        registry = made;
    }

    @Override
    public void close() {
        Registry ending = registry;
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

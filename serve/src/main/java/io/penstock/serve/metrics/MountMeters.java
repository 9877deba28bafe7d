package io.penstock.serve.metrics;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.penstock.serve.control.Json;
import io.penstock.serve.control.MountStatistics;
import io.penstock.serve.control.Statistic;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The metrics of a mount in a registry: one for each {@link Statistic}, or for each name that it matches. Their values
 * are those of the last {@link #refresh}. Thread-safe.
 */
final class MountMeters {
    private final MeterRegistry registry;
    private final Supplier<MountStatistics> source;

    private volatile JsonNode now;

    /** A statistic for the names that it matches, such as a call. */
    private record Series(Statistic statistic, List<String> keys) {}

    @GuardedBy("this")
    private final Set<Series> registered = new HashSet<>();

    /** Registers all meters that exist now; those of calls, errors and fallbacks follow when the first occurs. */
    MountMeters(MeterRegistry registry, Supplier<MountStatistics> source) {
        this.registry = registry;
        this.source = source;
        MountStatistics first = source.get();
        this.now = Json.tree(first);
        registry.config().commonTags("source", first.source(), "mount", first.mountPoint());
        refresh();
    }

    /** Takes a new snapshot. */
    synchronized void refresh() {
        now = Json.tree(source.get());
        for (Statistic statistic : Statistic.values()) {
            for (List<String> keys : statistic.keys(now)) {
                if (registered.add(new Series(statistic, keys))) {
                    register(statistic, keys);
                }
            }
        }
    }

    private void register(Statistic statistic, List<String> keys) {
        String name = "penstock." + statistic.metric();
        String[] each = keys.toArray(String[]::new);
        ToDoubleFunction<MountMeters> value = meters -> statistic.of(meters.now, each);
        switch (statistic.kind()) {
            case COUNTER ->
                FunctionCounter.builder(name, this, value)
                        .baseUnit(unit(statistic))
                        .description(statistic.help())
                        .tags(tags(statistic, keys))
                        .register(registry);
            case GAUGE ->
                Gauge.builder(
                                name,
                                this,
                                meters -> meters.has(statistic, keys) ? value.applyAsDouble(meters) : Double.NaN)
                        .baseUnit(unit(statistic))
                        .description(statistic.help())
                        .tags(tags(statistic, keys))
                        .register(registry);
        }
    }

    /**
     * Whether the mount has it now: for example, the listing of the whole bucket has no share once it is out of date.
     */
    private boolean has(Statistic statistic, List<String> keys) {
        return statistic.keys(now).contains(keys);
    }

    private static @Nullable String unit(Statistic statistic) {
        return switch (statistic.unit()) {
            case BYTES, SECONDS -> statistic.unit().name().toLowerCase(Locale.ROOT);
            case NUMBER, COST -> null;
        };
    }

    private static List<Tag> tags(Statistic statistic, List<String> keys) {
        Iterator<String> names = keys.iterator();
        List<Tag> tags = new ArrayList<>();
        statistic.labels().forEach((label, value) -> {
            String text = value.equals("*") ? names.next() : value;
            tags.add(Tag.of(label, label.equals("le") && value.equals("*") ? seconds(text) : text));
        });
        return tags;
    }

    private static String seconds(String nanos) {
        return new BigDecimal(nanos).movePointLeft(9).stripTrailingZeros().toPlainString();
    }
}

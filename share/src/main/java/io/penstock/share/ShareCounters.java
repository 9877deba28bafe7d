package io.penstock.share;

import static java.util.Objects.requireNonNull;

import io.penstock.share.ShareStatistics.Fallback;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/** What the node received from others and sent to them. Safe for use by any number of threads. */
final class ShareCounters {
    final LongAdder bytesHad = new LongAdder();
    final LongAdder answersHad = new LongAdder();
    final LongAdder requestsServed = new LongAdder();
    final LongAdder bytesServed = new LongAdder();
    final LongAdder getsForPeers = new LongAdder();
    private final Map<Fallback, LongAdder> fallbacks = new EnumMap<>(Fallback.class); // never changes
    private final Map<Integer, LongAdder> refusals = new ConcurrentHashMap<>();

    ShareCounters() {
        for (Fallback fallback : Fallback.values()) {
            fallbacks.put(fallback, new LongAdder());
        }
    }

    void fellBack(Fallback cause) {
        requireNonNull(fallbacks.get(cause)).increment();
    }

    void refused(int status) {
        refusals.computeIfAbsent(status, absent -> new LongAdder()).increment();
    }

    Map<Fallback, Long> fallbacks() {
        return sums(fallbacks);
    }

    Map<Integer, Long> refusals() {
        return sums(refusals);
    }

    private static <K> Map<K, Long> sums(Map<K, LongAdder> adders) {
        return adders.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, adder -> adder.getValue().sum()));
    }
}

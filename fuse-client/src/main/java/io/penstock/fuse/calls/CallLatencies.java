package io.penstock.fuse.calls;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/** Counts all calls and measures how long they took. Safe for use by any number of threads. */
public final class CallLatencies implements CallObserver {
    /** Complete and never changed. */
    private final EnumMap<KernelCall, Latencies> byCall = new EnumMap<>(KernelCall.class);

    public CallLatencies() {
        for (KernelCall call : KernelCall.values()) {
            byCall.put(call, new Latencies());
        }
    }

    @Override
    public void ended(ObservedCall call, int errno, int bytes, long nanos) {
        Objects.requireNonNull(byCall.get(call.kind())).add(errno, bytes, nanos);
    }

    /** By {@link KernelCall#label}: the calls seen so far, in the order of {@link KernelCall}. */
    public Map<String, CallStatistics> snapshot() {
        Map<String, CallStatistics> all = new LinkedHashMap<>();
        byCall.forEach((call, latencies) -> {
            CallStatistics statistics = latencies.snapshot();
            if (statistics.count() > 0) {
                all.put(call.label(), statistics);
            }
        });
        return all;
    }
}

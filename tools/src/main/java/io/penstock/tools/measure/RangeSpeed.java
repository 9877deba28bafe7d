package io.penstock.tools.measure;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;

/**
 * The speed of range GETs.
 *
 * @param concurrency the number of concurrent GETs
 * @param mib MiB/s in total
 * @param p50 the median time from a request to its first byte
 * @param p99 the 99th percentile of it
 */
public record RangeSpeed(int concurrency, double mib, Duration p50, Duration p99) {
    /** More concurrent requests are worth it if they are faster by this factor. */
    public static final double GAIN = 1.3;

    /** @param speeds at least one */
    public static RangeSpeed best(List<RangeSpeed> speeds) {
        return speeds.stream().max(Comparator.comparingDouble(RangeSpeed::mib)).orElseThrow();
    }

    /**
     * The lowest concurrency that is nearly as fast as the best.
     *
     * @param speeds at least one
     */
    public static int least(List<RangeSpeed> speeds) {
        double best = best(speeds).mib();
        return speeds.stream()
                .filter(speed -> speed.mib() * GAIN >= best)
                .mapToInt(RangeSpeed::concurrency)
                .min()
                .orElseThrow();
    }
}

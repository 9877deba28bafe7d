package io.penstock.tools.measure;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;

/**
 * GETs of ranges.
 *
 * @param concurrency how many at once
 * @param mib MiB/s of all together
 * @param p50 the time from a request to its first byte, of half of them at most
 * @param p99 the same, of 99 of 100
 */
public record RangeSpeed(int concurrency, double mib, Duration p50, Duration p99) {
    /** More requests at once are worth it if they bring that much more. */
    public static final double GAIN = 1.3;

    /** @param speeds at least one */
    public static RangeSpeed best(List<RangeSpeed> speeds) {
        return speeds.stream().max(Comparator.comparingDouble(RangeSpeed::mib)).orElseThrow();
    }

    /**
     * How many at once bring nearly as much as the best.
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

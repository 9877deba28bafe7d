package io.penstock.cli.doctor;

import java.time.Duration;
import java.util.List;

/**
 * The network between this machine and the store.
 *
 * @param speeds by ascending concurrency; empty if no object is large enough
 */
record NetworkFacts(List<Speed> speeds) {
    /**
     * GETs of ranges.
     *
     * @param concurrency how many at once
     * @param mib MiB/s of all together
     * @param p50 the time from a request to its first byte, of half of them at most
     * @param p99 the same, of 99 of 100
     */
    record Speed(int concurrency, double mib, Duration p50, Duration p99) {}
}

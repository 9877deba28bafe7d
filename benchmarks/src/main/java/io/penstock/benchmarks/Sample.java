package io.penstock.benchmarks;

import io.penstock.tools.measure.Measurement;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * One measured run.
 *
 * @param measurement the amount moved, and its time
 * @param cost of the process that served it; null if only the kernel did
 * @param requests that the server received during the run; empty if they were not counted
 */
record Sample(Measurement measurement, @Nullable Cost cost, OptionalLong requests) {
    Sample(Measurement measurement, @Nullable Cost cost) {
        this(measurement, cost, OptionalLong.empty());
    }

    /**
     * A process's share of a run.
     *
     * @param cpuSeconds user and system time of all its threads
     * @param peakResidentBytes its peak resident memory during the run
     */
    record Cost(double cpuSeconds, long peakResidentBytes) {}

    /** Work whose time is measured. */
    @FunctionalInterface
    interface Work {
        Measurement run() throws Exception;
    }

    Sample with(OptionalLong counted) {
        return new Sample(measurement, cost, counted);
    }
}

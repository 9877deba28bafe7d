package io.penstock.benchmarks;

import org.jspecify.annotations.Nullable;

/**
 * One measured run.
 *
 * @param measurement the amount moved, and its time
 * @param cost of the process that served it; null if only the kernel did
 */
record Sample(Measurement measurement, @Nullable Cost cost) {
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
}

package io.penstock.serve.metrics;

import io.penstock.serve.control.MountStatistics;
import java.util.function.Supplier;

/** Exports metrics to a monitoring system. */
interface Exporter {
    /** Starts to export the statistics of this mount, which are read for each report. Call once. */
    void publish(Supplier<MountStatistics> statistics);

    /** Stops within a few seconds. */
    void close();
}

package io.penstock.serve.metrics;

import io.penstock.serve.control.MountStatistics;
import java.util.function.Supplier;

/** A way to a monitoring system. */
interface Exporter {
    /** From now on it has the statistics of this mount, which are read for each report. To be called once. */
    void publish(Supplier<MountStatistics> statistics);

    /** Ends it within some seconds. */
    void close();
}

package io.penstock.tools.bench;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A measurement.
 *
 * @param location where it was made
 * @param rate in the step's unit
 * @param ceiling the row of a bucket or a disk to compare it with; null if none was measured
 */
record Row(
        Location location, Step step, double rate, @Nullable Row ceiling) {
    /** A lower ratio can be improved. */
    private static final double POOR = 0.5;

    /** 1 if it reaches its ceiling; NaN if there is none. */
    double ratio() {
        return ceiling == null ? Double.NaN : rate / Math.max(Double.MIN_NORMAL, ceiling.rate());
    }

    boolean isPoor() {
        return ratio() < POOR;
    }

    /** {@code 34% of the disk (large file read)}; empty if there is no ceiling. */
    String comparison() {
        return ceiling == null
                ? ""
                : Math.round(100 * ratio()) + "% of the "
                        + ceiling.location().kind().name().toLowerCase(Locale.ROOT) + " ("
                        + ceiling.step().label() + ")";
    }
}

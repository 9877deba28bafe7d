package io.penstock.benchmarks;

/**
 * Accelerator utilisation: the fraction of time in which the accelerators compute, as defined by DLIO
 * (utils/statscounter.py, compute_metrics_train). A step counts with its configured time, as in DLIO 2.0.0. Later
 * versions count the actual sleep, so a lack of processors, which prolongs it, would count as work.
 *
 * @param steps that counted, per accelerator
 * @param stepNanos nanoseconds of computing per step
 * @param nanos wall-clock time of the counted steps
 */
record TrainUtilisation(int steps, long stepNanos, long nanos) {
    double percent() {
        return nanos == 0 ? 0 : 100.0 * steps * stepNanos / nanos;
    }

    /** Combines epochs. DLIO takes the mean of their percentages; here weighted, as they are equally long. */
    TrainUtilisation plus(TrainUtilisation other) {
        return new TrainUtilisation(steps + other.steps, Math.max(stepNanos, other.stepNanos), nanos + other.nanos);
    }

    /** Whether a percentage can no longer be reached within this many steps. */
    static boolean isOutOfReach(int plannedSteps, long stepNanos, long nanos, int requiredPercent) {
        return nanos > 100.0 * plannedSteps * stepNanos / requiredPercent;
    }
}

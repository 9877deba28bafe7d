package io.penstock.benchmarks;

/**
 * Accelerator utilisation: the part of the time in which the accelerators compute, as DLIO has it (utils/statscounter.py,
 * compute_metrics_train). The time of a step counts as it is set, as in DLIO 2.0.0; later ones count the time that the
 * sleep took, which a machine short of processors draws out, and which would then count as work.
 *
 * @param steps that were counted, of each accelerator
 * @param stepNanos nanoseconds for which an accelerator computes in one step
 * @param nanos wall-clock time of the counted steps
 */
record TrainUtilisation(int steps, long stepNanos, long nanos) {
    double percent() {
        return nanos == 0 ? 0 : 100.0 * steps * stepNanos / nanos;
    }

    /** Of several epochs: DLIO takes the mean of their percentages; weighted, as the epochs are equally long. */
    TrainUtilisation plus(TrainUtilisation other) {
        return new TrainUtilisation(steps + other.steps, Math.max(stepNanos, other.stepNanos), nanos + other.nanos);
    }

    /** Whether the rest of so many steps can no longer bring it to a percentage. */
    static boolean isOutOfReach(int plannedSteps, long stepNanos, long nanos, int requiredPercent) {
        return nanos > 100.0 * plannedSteps * stepNanos / requiredPercent;
    }
}

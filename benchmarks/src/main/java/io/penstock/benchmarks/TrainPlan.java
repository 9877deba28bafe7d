package io.penstock.benchmarks;

import java.util.concurrent.TimeUnit;

/**
 * The steps that each accelerator takes in one epoch.
 *
 * <p>A loader that is too slow goes unnoticed until the batches read ahead at the start are used up. That would flatter
 * a run of few steps, so the first steps do not count. DLIO excludes one, of 500 or more.
 *
 * @param excluded steps at the start that do not count
 * @param counted steps after them, at least one
 */
record TrainPlan(int excluded, int counted) {
    /** By then the accelerators have used up the batches read ahead at the start, and as many more read meanwhile. */
    private static final int ROUNDS_EXCLUDED = 2;

    TrainPlan {
        if (excluded < 0 || counted < 1) {
            throw new IllegalArgumentException("steps: " + excluded + " excluded, " + counted + " counted");
        }
    }

    static int excludedBy(TrainModel model) {
        return ROUNDS_EXCLUDED * model.batchesAhead();
    }

    /**
     * Steps that must count before a utilisation is reliable. With storage at nine tenths of the required speed, what
     * was read ahead lasts ten steps per batch.
     */
    static int enough(TrainModel model) {
        return 10 * model.batchesAhead();
    }

    /** The most accelerators for which the files have enough samples to count some steps. */
    static int mostAccelerators(TrainModel model, int files, int excluded) {
        int most = (int) Math.min(files, steps(model, files, 1) / (excluded + model.batchesAhead()));
        while (most > 0 && steps(model, files, most) < excluded + model.batchesAhead()) {
            most--; // a remainder is left out
        }
        return most;
    }

    /**
     * @param accelerators at most {@link #mostAccelerators}
     * @param seconds of computing, if there are enough samples
     */
    static TrainPlan of(TrainWorkload workload, int files, int accelerators, int excluded, int seconds) {
        TrainModel model = workload.model();
        long wanted =
                Math.max(Math.ceilDiv(TimeUnit.SECONDS.toNanos(seconds), workload.stepNanos()), model.batchesAhead());
        return new TrainPlan(excluded, (int) Math.min(wanted, steps(model, files, accelerators) - excluded));
    }

    /** The number of steps per accelerator for which there are samples. */
    private static long steps(TrainModel model, int files, int accelerators) {
        long samples = model.access() == TrainAccess.TFRECORD
                ? (long) files * model.samples().perFile() / accelerators
                : files / accelerators;
        return samples / model.loading().batch();
    }

    int steps() {
        return excluded + counted;
    }

    /** Samples that one accelerator takes. */
    int samples(TrainModel model) {
        return steps() * model.loading().batch();
    }
}

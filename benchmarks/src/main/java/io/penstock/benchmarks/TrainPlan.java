package io.penstock.benchmarks;

import java.util.concurrent.TimeUnit;

/**
 * The steps that each accelerator takes in one epoch.
 *
 * <p>A loader that is too slow is not noticed until the batches read ahead at the start are used up, which would flatter a
 * run of few steps: hence the first steps do not count. DLIO leaves out one, of 500 and more.
 *
 * @param excluded steps at the start that do not count
 * @param counted steps after them, at least one
 */
record TrainPlan(int excluded, int counted) {
    /**
     * By then the accelerators have used up the batches that were read ahead at the start, and as many more, which were
     * read while they did.
     */
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
     * Steps that have to count before a utilisation can be trusted. A storage of nine tenths of the speed needed uses up
     * what was read ahead, one batch, in ten steps.
     */
    static int enough(TrainModel model) {
        return 10 * model.batchesAhead();
    }

    /** The most accelerators for which the files have enough samples that some steps count. */
    static int mostAccelerators(TrainModel model, int files, int excluded) {
        int most = (int) Math.min(files, steps(model, files, 1) / (excluded + model.batchesAhead()));
        while (most > 0 && steps(model, files, most) < excluded + model.batchesAhead()) {
            most--; // what does not divide is left out
        }
        return most;
    }

    /**
     * @param accelerators at most {@link #mostAccelerators}
     * @param seconds for which they are to compute, if there are enough samples
     */
    static TrainPlan of(TrainWorkload workload, int files, int accelerators, int excluded, int seconds) {
        TrainModel model = workload.model();
        long wanted =
                Math.max(Math.ceilDiv(TimeUnit.SECONDS.toNanos(seconds), workload.stepNanos()), model.batchesAhead());
        return new TrainPlan(excluded, (int) Math.min(wanted, steps(model, files, accelerators) - excluded));
    }

    /** Steps of each accelerator for which there are samples. */
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

package io.penstock.benchmarks;

import java.util.OptionalDouble;

/**
 * The result of running this many accelerators.
 *
 * @param utilisation of the counted steps
 * @param bytes read in all steps
 * @param samples that the accelerators took in all steps
 * @param nanos wall-clock time of all steps
 * @param readerCores processors that this process used; includes reads by the kernel itself
 * @param clientCores processors that the client's process used; empty if unknown
 */
record TrainRun(
        int accelerators,
        TrainUtilisation utilisation,
        long bytes,
        long samples,
        long nanos,
        double readerCores,
        OptionalDouble clientCores) {
    private static final double MIB = 1 << 20;

    double mibPerSecond() {
        return bytes / MIB / (nanos / 1e9);
    }

    double samplesPerSecond() {
        return samples / (nanos / 1e9);
    }

    /** Accelerators per processor of the client. */
    OptionalDouble perClientCore() {
        return clientCores.isPresent() && clientCores.getAsDouble() > 0
                ? OptionalDouble.of(accelerators / clientCores.getAsDouble())
                : OptionalDouble.empty();
    }

    /** Combines two epochs with the same number of accelerators. */
    TrainRun plus(TrainRun next) {
        OptionalDouble cores = clientCores.isPresent() && next.clientCores.isPresent()
                ? OptionalDouble.of(mean(clientCores.getAsDouble(), next.clientCores.getAsDouble(), next))
                : OptionalDouble.empty();
        return new TrainRun(
                accelerators,
                utilisation.plus(next.utilisation),
                bytes + next.bytes,
                samples + next.samples,
                nanos + next.nanos,
                mean(readerCores, next.readerCores, next),
                cores);
    }

    private double mean(double mine, double other, TrainRun next) {
        return (mine * nanos + other * next.nanos) / (nanos + next.nanos);
    }
}

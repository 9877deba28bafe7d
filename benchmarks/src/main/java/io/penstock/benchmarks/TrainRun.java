package io.penstock.benchmarks;

import java.util.OptionalDouble;

/**
 * What so many accelerators at once did.
 *
 * @param utilisation of the counted steps
 * @param bytes that were read, in all steps
 * @param samples that the accelerators took, in all steps
 * @param nanos wall-clock time of all steps
 * @param readerCores processors that this process used meanwhile; what the kernel reads by itself counts here
 * @param clientCores processors that the client's process used meanwhile; empty if it is not known
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

    /** Accelerators for one of the client's processors. */
    OptionalDouble perClientCore() {
        return clientCores.isPresent() && clientCores.getAsDouble() > 0
                ? OptionalDouble.of(accelerators / clientCores.getAsDouble())
                : OptionalDouble.empty();
    }

    /** Two epochs of as many accelerators. */
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

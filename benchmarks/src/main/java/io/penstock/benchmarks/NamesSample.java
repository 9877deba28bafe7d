package io.penstock.benchmarks;

import java.util.OptionalLong;

/**
 * One measured run over names.
 *
 * @param requests that the server received during the run; empty if it does not report them
 */
record NamesSample(Sample sample, OptionalLong requests) {
    NamesSample(Sample sample, long requests) {
        this(sample, OptionalLong.of(requests));
    }

    double seconds() {
        return sample.measurement().nanos() / 1e9;
    }

    double perSecond() {
        return sample.measurement().operationsPerSecond();
    }
}

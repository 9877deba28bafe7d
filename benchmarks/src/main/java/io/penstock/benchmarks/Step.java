package io.penstock.benchmarks;

/**
 * One measured run over names.
 *
 * @param requests that the server got during the run
 */
record Step(Sample sample, long requests) {
    double seconds() {
        return sample.measurement().nanos() / 1e9;
    }

    double perSecond() {
        return sample.measurement().operationsPerSecond();
    }
}

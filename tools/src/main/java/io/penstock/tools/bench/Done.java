package io.penstock.tools.bench;

/**
 * Completed work.
 *
 * @param amount in the unit of its {@link Step}: MiB or a number of files or reads
 * @param nanos the nanoseconds it took
 */
record Done(double amount, long nanos) {
    static Done ofBytes(long bytes, long nanos) {
        return new Done(bytes / (double) (1 << 20), nanos);
    }

    static Done ofRate(double perSecond) {
        return new Done(perSecond, 1_000_000_000);
    }

    double perSecond() {
        return amount / (Math.max(1, nanos) / 1e9);
    }
}

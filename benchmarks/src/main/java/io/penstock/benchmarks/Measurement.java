package io.penstock.benchmarks;

import java.util.Arrays;

/**
 * The amount that one run moved, and its time.
 *
 * @param bytes read or written by the caller
 * @param operations the number of calls, requests or files
 * @param nanos wall-clock time from the start of the first operation to the end of the last; more than 0
 * @param p50Nanos median time of one operation; 0 if operations were not timed individually
 * @param p99Nanos the time that one operation in a hundred exceeds; 0 in the same case
 */
record Measurement(long bytes, long operations, long nanos, long p50Nanos, long p99Nanos) {
    private static final double MIB = 1 << 20;

    Measurement {
        if (nanos <= 0) {
            throw new IllegalArgumentException("a run takes time, not " + nanos + " ns");
        }
    }

    /** A run with individually timed operations; sorts the times. */
    static Measurement of(long bytes, long nanos, long[] operationNanos) {
        Arrays.sort(operationNanos);
        return new Measurement(
                bytes, operationNanos.length, nanos, percentile(operationNanos, 50), percentile(operationNanos, 99));
    }

    /** A run whose operations were not timed individually; each counts as one byte. */
    static Measurement ofWhole(long operations, long nanos) {
        return new Measurement(operations, operations, nanos, 0, 0);
    }

    /** The nearest rank: the smallest value for which at least {@code percent} of all values are not greater. */
    static long percentile(long[] sorted, int percent) {
        if (sorted.length == 0) {
            throw new IllegalArgumentException("a run has operations");
        }
        int rank = (int) Math.ceilDiv((long) percent * sorted.length, 100L);
        return sorted[Math.max(rank, 1) - 1];
    }

    double mibPerSecond() {
        return bytes / MIB / seconds();
    }

    double operationsPerSecond() {
        return operations / seconds();
    }

    private double seconds() {
        return nanos / 1e9;
    }
}

package io.penstock.tools.measure;

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
public record Measurement(long bytes, long operations, long nanos, long p50Nanos, long p99Nanos) {
    private static final double MIB = 1 << 20;

    public Measurement {
        if (nanos <= 0) {
            throw new IllegalArgumentException("a run takes time, not " + nanos + " ns");
        }
    }

    /** A run with individually timed operations; sorts the times. */
    public static Measurement of(long bytes, long nanos, long[] operationNanos) {
        Arrays.sort(operationNanos);
        return new Measurement(
                bytes,
                operationNanos.length,
                Math.max(1, nanos),
                percentile(operationNanos, 50),
                percentile(operationNanos, 99));
    }

    /** A run whose operations were not timed individually; each counts as one byte. */
    public static Measurement ofWhole(long operations, long nanos) {
        return new Measurement(operations, operations, Math.max(1, nanos), 0, 0);
    }

    /** The same run, which moved so many bytes. */
    public Measurement withBytes(long moved) {
        return new Measurement(moved, operations, nanos, p50Nanos, p99Nanos);
    }

    /** The nearest rank: the smallest value for which at least {@code percent} of all are not greater; 0 if none. */
    static long percentile(long[] sorted, int percent) {
        int rank = (int) Math.ceilDiv((long) percent * sorted.length, 100L);
        return sorted.length == 0 ? 0 : sorted[Math.max(rank, 1) - 1];
    }

    public double mibPerSecond() {
        return bytes / MIB / seconds();
    }

    public double operationsPerSecond() {
        return operations / seconds();
    }

    public double seconds() {
        return nanos / 1e9;
    }
}

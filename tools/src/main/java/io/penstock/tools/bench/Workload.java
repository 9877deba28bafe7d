package io.penstock.tools.bench;

import java.time.Duration;

/**
 * The amount of work of a run.
 *
 * @param largeBytes the size of the large file at most, in whole MiB
 * @param smallFiles the number of small files at most; 1 or more
 * @param smallBytes the size of each small file: 1 to {@link #LARGEST_SMALL}
 * @param threads the number of threads that work on small files; 1 or more
 * @param limit the time after which a step begins nothing more; its rate is that of the work done by then
 */
public record Workload(long largeBytes, int smallFiles, int smallBytes, int threads, Duration limit) {
    /** Bytes. */
    public static final int LARGEST_SMALL = 4 << 20;

    /** The same workload, with at most this many bytes in the large file. */
    Workload within(long bytes) {
        return new Workload(Math.min(largeBytes, bytes), smallFiles, smallBytes, threads, limit);
    }

    /** The total size of all files. */
    long allBytes() {
        return largeBytes + (long) smallFiles * smallBytes;
    }
}

package io.penstock.tools.bench;

import java.time.Duration;

/**
 * How much is done.
 *
 * @param largeBytes of the large file, at most: whole MiB
 * @param smallFiles the number of small files, at most; 1 or more
 * @param smallBytes of each of them: 1 to {@link #LARGEST_SMALL}
 * @param threads that work on small files at once; 1 or more
 * @param limit of each step: after that it begins nothing more, and its rate is that of the work done
 */
public record Amounts(long largeBytes, int smallFiles, int smallBytes, int threads, Duration limit) {
    /** Bytes. */
    public static final int LARGEST_SMALL = 4 << 20;

    /** With no more than that in the large file. */
    Amounts within(long bytes) {
        return new Amounts(Math.min(largeBytes, bytes), smallFiles, smallBytes, threads, limit);
    }

    /** Of all files together. */
    long allBytes() {
        return largeBytes + (long) smallFiles * smallBytes;
    }
}

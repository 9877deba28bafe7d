package io.penstock.fuse.calls;

import io.penstock.core.Errno;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The counters of one kind of call: a histogram of durations, bytes and errors. A bucket is an eighth of a power of two
 * wide, so a quantile is at most an eighth too high. Few threads share a stripe: none waits for another, and each call
 * costs two or three additions. Safe for use by any number of threads.
 */
final class Latencies {
    private static final int STRIPES = 4;

    /** A power of two has {@code 1 << EIGHTHS} buckets. */
    private static final int EIGHTHS = 3;

    /** Calls of 2^40 ns, 18 minutes, or more are in the last bucket. */
    private static final int LONGEST = 40;

    static final int BUCKETS = (LONGEST - EIGHTHS + 1) << EIGHTHS;

    // These counters follow the buckets.
    private static final int NANOS = BUCKETS;
    private static final int BYTES = BUCKETS + 1;
    private static final int ERRORS = BUCKETS + 2;

    /** The largest number in errno.h is 133. */
    private static final int ERROR_NUMBERS = 134;

    /** Each is created at its first call: 3.5 KiB. */
    private final AtomicReferenceArray<@Nullable AtomicLongArray> stripes = new AtomicReferenceArray<>(STRIPES);

    void add(int errno, int bytes, long nanos) {
        AtomicLongArray stripe = stripe((int) Thread.currentThread().threadId() & (STRIPES - 1));
        stripe.getAndAdd(bucket(nanos), 1);
        stripe.getAndAdd(NANOS, nanos);
        if (bytes > 0) {
            stripe.getAndAdd(BYTES, bytes);
        }
        if (errno > 0) {
            stripe.getAndAdd(ERRORS + Math.min(errno, ERROR_NUMBERS - 1), 1);
        }
    }

    private AtomicLongArray stripe(int index) {
        AtomicLongArray stripe = stripes.get(index);
        if (stripe != null) {
            return stripe;
        }
        AtomicLongArray made = new AtomicLongArray(ERRORS + ERROR_NUMBERS);
        AtomicLongArray other = stripes.compareAndExchange(index, null, made);
        return other == null ? made : other;
    }

    private static int bucket(long nanos) {
        long bounded = Math.clamp(nanos, 0, (1L << LONGEST) - 1);
        if (bounded < 1 << EIGHTHS) {
            return (int) bounded;
        }
        int power = 63 - Long.numberOfLeadingZeros(bounded);
        int eighth = (int) (bounded >>> (power - EIGHTHS)) & ((1 << EIGHTHS) - 1);
        return ((power - EIGHTHS + 1) << EIGHTHS) + eighth;
    }

    /** The shortest duration beyond this bucket, in nanoseconds. */
    static long end(int bucket) {
        int next = bucket + 1;
        if (next < 1 << EIGHTHS) {
            return next;
        }
        int power = (next >> EIGHTHS) + EIGHTHS - 1;
        int eighth = next & ((1 << EIGHTHS) - 1);
        return ((1L << EIGHTHS) | eighth) << (power - EIGHTHS);
    }

    CallStatistics snapshot() {
        long[] buckets = new long[BUCKETS];
        for (int i = 0; i < BUCKETS; i++) {
            buckets[i] = sum(i);
        }
        Map<String, Long> errors = new TreeMap<>();
        for (int errno = 1; errno < ERROR_NUMBERS; errno++) {
            long count = sum(ERRORS + errno);
            if (count > 0) {
                errors.put(Errno.nameOf(errno), count);
            }
        }
        return CallStatistics.of(buckets, sum(NANOS), sum(BYTES), errors);
    }

    private long sum(int slot) {
        long sum = 0;
        for (int i = 0; i < STRIPES; i++) {
            AtomicLongArray stripe = stripes.get(i);
            sum += stripe == null ? 0 : stripe.get(slot);
        }
        return sum;
    }
}

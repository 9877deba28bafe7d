package io.penstock.fuse.calls;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Statistics of one kind of call since the mount began. The quantiles are at most an eighth too high.
 *
 * @param count calls, errors included
 * @param bytes bytes read or written
 * @param nanos the total time of all calls, from their arrival to their reply
 * @param p50Nanos half of the calls took no longer
 * @param p99Nanos 99 of 100 calls took no longer
 * @param p999Nanos 999 of 1,000 calls took no longer
 * @param errors the number of errors, by the error's name
 * @param faster the number of calls faster than so many nanoseconds, for powers of four from 65,536 ns to 17 s
 */
public record CallStatistics(
        long count,
        long bytes,
        long nanos,
        long p50Nanos,
        long p99Nanos,
        long p999Nanos,
        Map<String, Long> errors,
        SortedMap<Long, Long> faster) {
    private static final int SHORTEST_POWER = 16;
    private static final int LONGEST_POWER = 34;

    static CallStatistics of(long[] buckets, long nanos, long bytes, Map<String, Long> errors) {
        long count = 0;
        SortedMap<Long, Long> faster = new TreeMap<>();
        for (int i = 0; i < buckets.length; i++) {
            count += buckets[i];
            long end = Latencies.end(i);
            int power = Long.numberOfTrailingZeros(end);
            if (end == 1L << power && power >= SHORTEST_POWER && power <= LONGEST_POWER && power % 2 == 0) {
                faster.put(end, count);
            }
        }
        return new CallStatistics(
                count,
                bytes,
                nanos,
                quantile(buckets, count, 0.5),
                quantile(buckets, count, 0.99),
                quantile(buckets, count, 0.999),
                errors,
                Collections.unmodifiableSortedMap(faster));
    }

    private static long quantile(long[] buckets, long count, double share) {
        long left = (long) Math.ceil(count * share);
        for (int i = 0; i < buckets.length && left > 0; i++) {
            left -= buckets[i];
            if (left <= 0) {
                return Latencies.end(i);
            }
        }
        return 0;
    }
}

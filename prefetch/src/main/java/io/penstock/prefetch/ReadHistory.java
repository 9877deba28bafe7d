package io.penstock.prefetch;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * What the last reads of a version waited for, in 40 bytes of heap.
 *
 * <p>Racy on purpose: each read updates plain fields, without a lock or an atomic operation. Of concurrent reads some
 * may be lost.
 */
final class ReadHistory {
    /** The number of reads remembered one by one. */
    static final int KEPT = 16;

    private static final int BITS = Long.SIZE / KEPT;

    private static final List<ReadSource> SOURCES = List.of(ReadSource.values());

    private static final int FROM_MEMORY = code(ReadSource.MEMORY);

    /** The {@link #code} of each read, 0 for none; the last read is in the lowest {@value #BITS} bits. */
    private long last;

    private long storeNanos;
    private long nvmeNanos;
    private long limitNanos;
    private FetchedAhead ahead = FetchedAhead.NOT;

    /** A read was answered from memory, without waiting. */
    void answered() {
        last = last << BITS | FROM_MEMORY;
    }

    /**
     * A read was answered.
     *
     * @param nanos how long it took
     * @param limited how long it waited, within that, for memory or a GET slot
     */
    void answered(ReadSource source, long nanos, long limited) {
        boolean isLimited = source == ReadSource.STORE && limited > nanos / 2;
        last = last << BITS | code(isLimited ? ReadSource.LIMITS : source);
        switch (source) {
            case MEMORY -> {}
            case NVME -> nvmeNanos += nanos;
            case IN_FLIGHT, STORE, LIMITS -> {
                storeNanos += Math.max(0, nanos - limited);
                limitNanos += limited;
            }
        }
    }

    /** 1 or more. */
    private static int code(ReadSource source) {
        return SOURCES.indexOf(source) + 1;
    }

    /** Part of the version is fetched ahead of its readers. */
    void fetchedAhead(FetchedAhead why) {
        ahead = why;
    }

    boolean isEmpty() {
        return last == 0 && ahead == FetchedAhead.NOT;
    }

    LastReads snapshot() {
        Map<ReadSource, Integer> sources = new EnumMap<>(ReadSource.class);
        for (long left = last; left != 0; left >>>= BITS) {
            int code = (int) left & ((1 << BITS) - 1);
            sources.merge(SOURCES.get(code - 1), 1, Integer::sum);
        }
        return new LastReads(sources, storeNanos, nvmeNanos, limitNanos, ahead);
    }
}

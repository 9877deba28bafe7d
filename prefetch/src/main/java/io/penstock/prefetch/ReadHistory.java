package io.penstock.prefetch;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * What the last reads of a version waited for, in 40 bytes of heap.
 *
 * <p>Racy on purpose: each read notes itself in plain fields, without a lock or an atomic operation. Of reads at the same
 * moment some may be lost.
 */
final class ReadHistory {
    /** Reads that are told apart. */
    static final int KEPT = 16;

    private static final int BITS = Long.SIZE / KEPT;

    private static final List<ReadSource> SOURCES = List.of(ReadSource.values());

    private static final int FROM_MEMORY = code(ReadSource.MEMORY);

    /** The {@link #code} of each, 0 for none; that of the last one is in the lowest {@value #BITS} bits. */
    private long last;

    private long storeNanos;
    private long nvmeNanos;
    private long limitNanos;
    private FetchedAhead ahead = FetchedAhead.NOT;

    /** A read was answered from memory, at once. */
    void answered() {
        last = last << BITS | FROM_MEMORY;
    }

    /**
     * A read was answered.
     *
     * @param nanos that it took
     * @param limited those of them for which it waited for memory or for the turn of its GET
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

    /** From 1 on. */
    private static int code(ReadSource source) {
        return SOURCES.indexOf(source) + 1;
    }

    /** Some of it is fetched ahead of its readers. */
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

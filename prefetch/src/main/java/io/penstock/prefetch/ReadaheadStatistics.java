package io.penstock.prefetch;

/**
 * Counters since the fetcher was created.
 *
 * @param demandGets range GETs made because a reader waited
 * @param readaheadGets range GETs made ahead of a stream
 * @param cancelledGets fetches cancelled because no reader still had the object open; some had not begun their GET
 * @param failedGets fetches that failed
 * @param bytesFetched bytes that arrived, for demand and readahead
 * @param readaheadBytes bytes claimed for readahead
 * @param readaheadBytesUsed the bytes of these that their stream has reached since
 * @param memoryNanos nanoseconds that readers waited for memory, before their fetch
 * @param turnNanos nanoseconds that readers waited for GET slots, part of their wait for pages in flight
 */
public record ReadaheadStatistics(
        long demandGets,
        long readaheadGets,
        long cancelledGets,
        long failedGets,
        long bytesFetched,
        long readaheadBytes,
        long readaheadBytesUsed,
        long memoryNanos,
        long turnNanos) {
    /** The total number of range GETs. */
    public long allGets() {
        return demandGets + readaheadGets;
    }
}

package io.penstock.prefetch;

/** Where a read was answered from, named after what it waited for first. */
public enum ReadSource {
    /** It waited for nothing. */
    MEMORY,
    NVME,
    /** A fetch that was already running. */
    IN_FLIGHT,
    /** Its own GET. */
    STORE,
    /** The same, but most of the wait was for memory or for a GET slot ({@code readahead.concurrency}). */
    LIMITS
}

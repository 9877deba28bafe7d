package io.penstock.prefetch;

/** Where a read was answered from, by what it had to wait for first. */
public enum ReadSource {
    /** It waited for nothing. */
    MEMORY,
    NVME,
    /** A fetch that ran already. */
    IN_FLIGHT,
    /** A GET of its own. */
    STORE,
    /** The same, but for most of the time for memory, or for the turn of its GET ({@code readahead.concurrency}). */
    LIMITS
}

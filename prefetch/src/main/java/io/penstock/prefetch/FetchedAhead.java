package io.penstock.prefetch;

/** Why parts of a version were fetched before a reader requested them. */
public enum FetchedAhead {
    NOT,
    /** The file is read sequentially. */
    STREAM,
    /** The files of its directory are read in the order of their names. */
    DIRECTORY_ORDER,
    /** They are read in the order of the previous epoch. */
    EPOCH_ORDER,
    /** They are read at random, so all of them will be needed. */
    WHOLE_DIRECTORY,
    /** A {@link Warmup} has fetched it. */
    WARMUP
}

package io.penstock.prefetch;

/** Why some of a version was fetched before a reader asked for it. */
public enum FetchedAhead {
    NOT,
    /** It is read in sequence. */
    STREAM,
    /** The files of its directory are read in the order of their names. */
    DIRECTORY_ORDER,
    /** They are read in the order of the epoch before. */
    EPOCH_ORDER,
    /** They are read at random, so that all of them will be. */
    WHOLE_DIRECTORY,
    /** A {@link Warmup} has brought it in. */
    WARMUP
}

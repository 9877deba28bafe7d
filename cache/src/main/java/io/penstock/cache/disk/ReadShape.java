package io.penstock.cache.disk;

/** How a version was last read. */
public enum ReadShape {
    UNKNOWN,
    /** Mostly in long runs. */
    IN_RUNS,
    AT_RANDOM
}

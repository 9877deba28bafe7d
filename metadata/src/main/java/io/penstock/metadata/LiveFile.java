package io.penstock.metadata;

import java.time.Instant;

/**
 * A file that is open or being written here. Its attributes are always current. Safe for use by any number of threads.
 */
public non-sealed interface LiveFile extends Node {
    /** Bytes, including data that is not in the store yet. */
    long size();

    /** The time of its last change. */
    Instant modified();

    /** 1, or 0 once its name is removed. */
    int links();
}

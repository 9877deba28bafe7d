package io.penstock.metadata;

import java.time.Instant;

/** A file that is open or written here: what it shows is what it is now. Safe for use by any number of threads. */
public non-sealed interface LiveFile extends Node {
    /** Bytes, with what is written and not in the store yet. */
    long size();

    /** Of its last change. */
    Instant modified();

    /** 1, or 0 once its name is gone. */
    int links();
}

package io.penstock.fuse.table;

/** What the kernel was to hold after a request. If it sends that request again, it never got the reply. */
public sealed interface Effect {
    /** Lookups were added to an inode. */
    record Lookups(long node, long count) implements Effect {}

    /** A handle was opened. */
    record Opened(long handle) implements Effect {}
}

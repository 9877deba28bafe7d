package io.penstock.fuse.calls;

import org.jspecify.annotations.Nullable;

/** A call that ends. Valid only while the observer is being notified. */
public interface ObservedCall {
    /** The offset of a call without one. */
    long NO_OFFSET = -1;

    KernelCall kind();

    /** The call's inode, or its directory if there is a {@link #name}; 0 if the binding knows only a path. */
    long inode();

    /** The name in the directory, or the path from the root, with a leading slash; null for a call on an open file. */
    @Nullable
    String name();

    /** In bytes, or a directory reader's position; {@link #NO_OFFSET} if there is none. */
    long offset();
}

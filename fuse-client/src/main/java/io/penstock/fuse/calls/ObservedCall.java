package io.penstock.fuse.calls;

import org.jspecify.annotations.Nullable;

/** A call that ends. It is valid only while the observer is told of it. */
public interface ObservedCall {
    /** An offset of a call that has none. */
    long NO_OFFSET = -1;

    KernelCall kind();

    /** The inode that it is about, of the directory if it has a {@link #name}; 0 if the binding knows only a path. */
    long inode();

    /** The name in the directory, or the path from the root, with a slash before it; null if it is about an open file. */
    @Nullable
    String name();

    /** In bytes, of a directory as its reader counts; {@link #NO_OFFSET} if it has none. */
    long offset();
}

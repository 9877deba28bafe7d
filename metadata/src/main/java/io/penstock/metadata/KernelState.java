package io.penstock.metadata;

import org.jspecify.annotations.Nullable;

/** What the kernel has of an inode beside its number. The module that serves the kernel says what it can be. Immutable. */
public interface KernelState {
    /** What is left of it when the inode goes out of use: null if nothing is. */
    default @Nullable KernelState forgotten() {
        return this;
    }
}

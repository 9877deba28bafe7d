package io.penstock.metadata;

import org.jspecify.annotations.Nullable;

/**
 * The kernel's state of an inode, beside its number. The module that serves the kernel defines its kinds. Immutable.
 */
public interface KernelState {
    /** The state that is left when the inode goes out of use: null if none is. */
    default @Nullable KernelState forgotten() {
        return this;
    }
}

package io.penstock.metadata;

import org.jspecify.annotations.Nullable;

/**
 * The kernel's state of an inode, without its number. The module that serves the kernel defines its kinds. Immutable.
 */
public interface KernelState {
    /** The state that remains when the inode is no longer in use; null for none. */
    default @Nullable KernelState forgotten() {
        return this;
    }
}

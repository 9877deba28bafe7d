package io.penstock.writeback.content;

import java.nio.ByteBuffer;

/** Where the memory of blocks comes from. Safe for use by any number of threads. */
@FunctionalInterface
public interface BlockSource {
    /** The number of memory that the mount's next process does not get. */
    int UNNUMBERED = -1;

    /**
     * Aligned memory for one block.
     *
     * @throws io.penstock.core.NativeMemory.UsedUpException if there is no more
     */
    ByteBuffer allocate();

    /** The memory is not needed any more. */
    default void free(ByteBuffer memory) {} // the garbage collector frees it

    /** Identifies the memory to the mount's next process. */
    default int number(ByteBuffer memory) {
        return UNNUMBERED;
    }
}

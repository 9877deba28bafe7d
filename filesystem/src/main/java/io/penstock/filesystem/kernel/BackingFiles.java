package io.penstock.filesystem.kernel;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Hands local files to the kernel, which then reads them directly instead of asking the file system (FUSE passthrough).
 * Provided by bindings that support it. Thread-safe.
 */
public interface BackingFiles {
    /**
     * Hands a file over. Renaming or unlinking the file afterwards does not affect the kernel.
     *
     * @return the id that identifies the file in the reply to an open: above 0
     * @throws IOException if the kernel rejects the file
     */
    int open(Path file) throws IOException;

    /** Takes the file back, after the last open file that uses this id has been released. */
    void close(int id);
}

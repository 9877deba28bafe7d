package io.penstock.filesystem.kernel;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Hands local files to the kernel, which then reads them itself where it would ask the file system (FUSE passthrough).
 * Given by a binding that can do that. Safe for use by any number of threads.
 */
public interface BackingFiles {
    /**
     * Hands a file over. What the kernel knows of it afterwards is independent of its name.
     *
     * @return what the answer to an open names it by: above 0
     * @throws IOException if the kernel does not take it
     */
    int open(Path file) throws IOException;

    /** Takes it back, after the last open file that it was named for has been released. */
    void close(int id);
}

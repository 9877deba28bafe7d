package io.penstock.writeback.upload;

import io.penstock.objectstore.UploadedPart;
import io.penstock.writeback.content.Block;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The limits of writing, by name, readable and settable while mounted. A writer at a limit waits its turn; it does not
 * fail. Safe for use by any number of threads. A lower limit takes effect as the excess drains.
 */
public final class WritebackLimits {
    /**
     * @param uploads concurrent PUTs, UploadParts and UploadPartCopies of the mount; 1 or more
     * @param uploadsPerFile the same for one file; 1 or more
     * @param uploadsWhileStaging the same for the mount while a program waits for blocks to be staged and none waits
     *     for an upload; 1 or more
     * @param dirtyBytes bytes of blocks in memory; at least two blocks of 4 MiB
     * @param stagingBytes bytes on the staging disk; at least two blocks
     * @param partBytes the first parts' size: a multiple of 4 MiB, at least 8 MiB. Applies to uploads begun later
     */
    public record Values(
            int uploads,
            int uploadsPerFile,
            int uploadsWhileStaging,
            long dirtyBytes,
            long stagingBytes,
            long partBytes) {
        /** @throws IllegalArgumentException with a message that names the limit and the allowed values */
        public Values {
            require(uploads >= 1, "uploads", uploads, "1 or more");
            require(uploadsPerFile >= 1, "uploads per file", uploadsPerFile, "1 or more");
            require(uploadsWhileStaging >= 1, "uploads while staging", uploadsWhileStaging, "1 or more");
            require(dirtyBytes >= 2L * Block.BLOCK_SIZE, "dirty bytes", dirtyBytes, "8 MiB or more");
            require(stagingBytes >= 2L * Block.BLOCK_SIZE, "staging bytes", stagingBytes, "8 MiB or more");
            require(
                    partBytes >= 2L * Block.BLOCK_SIZE
                            && partBytes <= UploadedPart.MAX_SIZE
                            && partBytes % Block.BLOCK_SIZE == 0,
                    "part bytes",
                    partBytes,
                    "a multiple of 4 MiB, from 8 MiB to 5 GiB");
        }

        private static void require(boolean holds, String limit, long value, String allowed) {
            if (!holds) {
                throw new IllegalArgumentException(limit + " " + value + ": must be " + allowed);
            }
        }
    }

    private volatile Values values;

    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

    public WritebackLimits(Values values) {
        this.values = values;
    }

    public Values get() {
        return values;
    }

    public void set(Values changed) {
        values = changed;
        listeners.forEach(Runnable::run);
    }

    /** Runs the listener after each change, on the thread that makes it. */
    public void whenChanged(Runnable listener) {
        listeners.add(listener);
    }
}

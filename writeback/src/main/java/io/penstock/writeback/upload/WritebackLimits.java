package io.penstock.writeback.upload;

import io.penstock.objectstore.UploadedPart;
import io.penstock.writeback.content.Block;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The bounds of writing, by name, readable and settable while mounted. A writer that comes to one waits, in turn; it
 * does not fail. Safe for use by any number of threads; a lower limit is reached as the excess drains.
 */
public final class WritebackLimits {
    /**
     * @param uploads PUTs, UploadParts and UploadPartCopies at once, of the mount; 1 or more
     * @param uploadsPerFile the same of one file; 1 or more
     * @param uploadsWhileStaging the same of the mount while blocks are being staged that a program waits for, and no
     *     upload is waited for; 1 or more
     * @param dirtyBytes bytes of blocks in memory; at least two blocks of 4 MiB
     * @param stagingBytes bytes on the staging disk; at least two blocks
     * @param partBytes the first parts' size: a multiple of 4 MiB, 8 MiB or more. It counts for uploads begun later
     */
    public record Values(
            int uploads,
            int uploadsPerFile,
            int uploadsWhileStaging,
            long dirtyBytes,
            long stagingBytes,
            long partBytes) {
        /** @throws IllegalArgumentException whose message names the limit and the allowed values */
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

    /** Has it run after each change, by the thread that makes it. */
    public void whenChanged(Runnable listener) {
        listeners.add(listener);
    }
}

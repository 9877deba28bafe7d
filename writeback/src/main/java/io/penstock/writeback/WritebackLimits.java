package io.penstock.writeback;

/**
 * The bounds of writing, by name, readable and settable while mounted. A writer that comes to one waits, in turn; it
 * does not fail. Safe for use by any number of threads; a lower limit is reached as what exceeds it drains.
 */
public final class WritebackLimits {
    /**
     * @param uploads PUTs, UploadParts and UploadPartCopies at once, of the mount; 1 or more
     * @param uploadsPerFile the same of one file; 1 or more
     * @param dirtyBytes bytes of blocks in memory; at least two blocks of 4 MiB
     * @param stagingBytes bytes on the staging disk; at least two blocks
     * @param partBytes the first parts' size: a multiple of 4 MiB, 8 MiB or more. It counts for uploads begun later
     */
    public record Values(int uploads, int uploadsPerFile, long dirtyBytes, long stagingBytes, long partBytes) {}

    private volatile Values values;

    WritebackLimits(Values values) {
        this.values = values;
    }

    public Values get() {
        return values;
    }

    public void set(Values changed) {
        values = changed;
    }
}

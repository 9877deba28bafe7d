package io.penstock.filesystem.kernel;

/**
 * An open file or directory.
 *
 * @param handle identifies it in {@code FileSystem.read}, {@code FileSystem.readdir} and {@code FileSystem.release}
 * @param pageCache what the kernel may do with its pages of this inode, or with its copy of a directory's listing
 * @param backing what {@link BackingFiles#open} returned, for {@link PageCachePolicy#PASS_THROUGH}; else 0
 * @param streamed whether the kernel may read far ahead: the whole file is known to be wanted, or was read last time
 */
public record OpenFile(long handle, PageCachePolicy pageCache, int backing, boolean streamed) {
    /** Without a backing file, and not streamed. */
    public OpenFile(long handle, PageCachePolicy pageCache) {
        this(handle, pageCache, 0, false);
    }

    /**
     * The kernel keeps pages by inode, not by version. This tells it whether they are from the opened version or
     * listing.
     */
    public enum PageCachePolicy {
        /** They are: keep them. */
        KEEP,
        /** They are from an older version, or it is not known: drop them. */
        INVALIDATE,
        /** They are from an older version that a process still has open: read past them. */
        BYPASS,
        /** Drop them, and read the backing file directly, without asking. */
        PASS_THROUGH
    }
}

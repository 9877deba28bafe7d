package io.penstock.filesystem.kernel;

/**
 * An open file or directory.
 *
 * @param handle names it in {@code FileSystem.read}, {@code FileSystem.readdir} and {@code FileSystem.release}
 * @param pageCache what the kernel may do with the pages that it has of this inode; of a directory: with its listing
 * @param backing what {@link BackingFiles#open} returned, for {@link PageCachePolicy#PASS_THROUGH}; else 0
 * @param streamed whether the kernel may read far ahead in it: all of it is known to be wanted, or was when it was last read
 */
public record OpenFile(long handle, PageCachePolicy pageCache, int backing, boolean streamed) {
    /** Without a backing file, and not streamed. */
    public OpenFile(long handle, PageCachePolicy pageCache) {
        this(handle, pageCache, 0, false);
    }

    /**
     * The kernel keeps pages by inode, not by version: this says whether those it has are of the opened version, or
     * listing.
     */
    public enum PageCachePolicy {
        /** They are: keep them. */
        KEEP,
        /** They are of an older version, or not known: drop them. */
        INVALIDATE,
        /** They are of an older version that a process still has open: read past them. */
        BYPASS,
        /** Drop them, and read the backing file instead, without asking. */
        PASS_THROUGH
    }
}

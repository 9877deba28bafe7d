package io.penstock.filesystem;

/**
 * An open file.
 *
 * @param handle names it in {@link FileSystem#read} and {@link FileSystem#release}
 * @param pageCache what the kernel may do with the pages that it has of this inode
 */
public record OpenFile(long handle, PageCachePolicy pageCache) {
    /** The kernel keeps pages by inode, not by version: this says whether those it has are of the opened version. */
    public enum PageCachePolicy {
        /** They are: keep them. */
        KEEP,
        /** They are of an older version, or not known: drop them. */
        INVALIDATE,
        /** They are of an older version that somebody still has open: read past them. */
        BYPASS
    }
}

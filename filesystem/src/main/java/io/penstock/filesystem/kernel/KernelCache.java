package io.penstock.filesystem.kernel;

/**
 * What a kernel has cached of our replies. Entries that turn out to be wrong before they expire can be invalidated. The
 * kernel may be waiting for the calling thread, so the methods return immediately, and another thread notifies the
 * kernel later.
 */
public interface KernelCache {
    /**
     * The inode's attributes are no longer those that were shown.
     *
     * @param pages whether to drop its pages too
     */
    void dropInode(long inode, boolean pages);

    /** {@link #dropInode} for the attributes of an inode in use now: done before it returns, where that is possible. */
    default void dropAttributes(long inode) {
        dropInode(inode, false);
    }

    /** The name refers to something else now, or to nothing. */
    void dropName(long parent, String name);

    /** Whether it can be asked to forget directories, too, if no process uses them. */
    boolean forgetsDirectories();

    /**
     * Asks the kernel to forget this inode, which it has known for a long time, if no process uses it. Until then the
     * inode takes memory here. A hint: it may be skipped if there are more notices than the kernel takes.
     *
     * @param inode not open if it is a file; a directory only where it {@link #forgetsDirectories}
     * @param name by which it was looked up in {@code parent}
     */
    void forget(long inode, long parent, String name);
}

package io.penstock.filesystem.kernel;

/**
 * What a kernel remembers of the answers that it was given, from which can be taken back what turned out to be wrong
 * before its time. The methods may be called on any thread, which the kernel may be waiting for: they return at once, and
 * the kernel is told later by another.
 */
public interface KernelCache {
    /**
     * The inode's attributes are no longer those that were shown.
     *
     * @param pages whether its pages are to go too
     */
    void dropInode(long inode, boolean pages);

    /** {@link #dropInode} of the attributes of an inode that is in use now: done when it returns, where that is possible. */
    default void dropAttributes(long inode) {
        dropInode(inode, false);
    }

    /** The name stands for something else, or for nothing. */
    void dropName(long parent, String name);

    /** Whether it can be asked to forget directories, too, if no process uses them. */
    boolean forgetsDirectories();

    /**
     * The kernel may forget this inode, which has been known for long, and is to if no process uses it: each costs
     * memory here until it does. A hint, which may be passed over where there is more to tell than the kernel takes.
     *
     * @param inode not open if it is a file; a directory only where it {@link #forgetsDirectories}
     * @param name by which it was looked up in {@code parent}
     */
    void forget(long inode, long parent, String name);
}

package io.penstock.filesystem;

/**
 * What a kernel remembers of the answers that it was given, from which can be taken back what turned out to be wrong
 * before its time. The methods may be called on any thread, which the kernel may be waiting for: they return at once, and
 * the kernel is told later by another.
 */
public interface KernelCache {
    /**
     * The inode's attributes are no longer what was shown.
     *
     * @param pages whether its pages are to go too
     */
    void dropInode(long inode, boolean pages);

    /** The name stands for something else, or for nothing. */
    void dropName(long parent, String name);
}

package io.penstock.filesystem;

import io.penstock.metadata.Inode;
import io.penstock.metadata.InodeTable;

/**
 * Keeps the kernel from knowing ever more names: it forgets by itself only when it is short of memory, and each costs
 * memory here for as long. Above a bound, those that it has known for longest are given back, unless they are open, or
 * directories: somebody may stand in these. Safe for use by any number of threads.
 */
final class ColdNames {
    /** How many inodes come into use between two looks. */
    private static final int STEP = 1024;

    private final InodeTable inodes;
    private final SharedFiles files;
    private final KernelNews news;
    private final long most;

    /** @param most inodes that are to be in use at most, but for {@link #STEP}s that the kernel has not forgotten yet */
    ColdNames(InodeTable inodes, SharedFiles files, KernelNews news, long most) {
        this.inodes = inodes;
        this.files = files;
        this.news = news;
        this.most = most;
    }

    /** An inode was looked up. Never waits. */
    void acquired(Inode inode) {
        if (inode.number() % STEP == 0 && inodes.size() > most) {
            news.forget(inodes.coldest(2 * STEP, this::isUnused)); // faster than they come
        }
    }

    private boolean isUnused(Inode inode) {
        return !inode.isDirectory() && files.of(inode.number()).isEmpty();
    }
}

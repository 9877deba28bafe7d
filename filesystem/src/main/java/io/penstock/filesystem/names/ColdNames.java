package io.penstock.filesystem.names;

import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.kernel.Kernels;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the kernel from knowing ever more names: it forgets by itself only when it is short of memory, and each costs
 * memory here for as long. Above a bound, those that it has known for longest are given back, unless they are open. So
 * are directories, by a kernel that can tell whether a process works in them. Safe for use by any number of threads.
 */
public final class ColdNames {
    /** How many inodes come into use between two looks. */
    private static final int STEP = 1024;

    /** By what their directories' prefixes have in characters: it goes up with each level. */
    private static final Comparator<Inode> INNERMOST_FIRST =
            Comparator.comparingInt(ColdNames::depth).reversed().thenComparingLong(Inode::number);

    private final InodeTable inodes;
    private final SharedFiles files;
    private final Kernels kernels;
    private final long most;

    /** @param most inodes that are to be in use at most, but for {@link #STEP}s that the kernel has not forgotten yet */
    public ColdNames(InodeTable inodes, SharedFiles files, Kernels kernels, long most) {
        this.inodes = inodes;
        this.files = files;
        this.kernels = kernels;
        this.most = most;
    }

    /** An inode was looked up. Never waits. */
    void acquired(Inode inode) {
        if (inode.number() % STEP == 0 && inodes.size() > most) {
            List<Inode> unused = inodes.coldest(2 * STEP, this::isUnused); // faster than they come
            kernels.forget(kernels.forgetDirectories() ? withDirectories(unused) : unused);
        }
    }

    private boolean isUnused(Inode inode) {
        return inode.isDirectory()
                ? kernels.forgetDirectories()
                : files.of(inode.number()).isEmpty();
    }

    /**
     * With the directories that they are in, which have come before them: those are not forgotten while the kernel knows
     * anything in them, and come last here.
     */
    private List<Inode> withDirectories(List<Inode> unused) {
        Set<Inode> all = new HashSet<>(unused);
        for (Inode inode : unused) {
            Inode directory = directory(inode);
            while (directory != null && all.add(directory)) {
                directory = directory(directory);
            }
        }
        return all.stream().sorted(INNERMOST_FIRST).toList();
    }

    private @Nullable Inode directory(Inode inode) {
        Place place = inode.place();
        Inode directory = place == null ? null : inodes.find(place.parent());
        return directory == null || directory.isRoot() ? null : directory;
    }

    private static int depth(Inode inode) {
        Place place = inode.place();
        return place == null ? 0 : place.parent().prefix().length();
    }
}

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
 * Bounds the number of names in the kernel's cache. The kernel forgets names only when it is short of memory, and each
 * takes memory here until then. Above the bound, it is asked to forget those that it has known longest, unless they are
 * open. This includes directories if the kernel can tell whether a process works in them. Thread-safe.
 */
public final class ColdNames {
    /** How many inodes come into use between two checks. */
    private static final int STEP = 1024;

    /** By the length of their directories' prefixes in characters: it grows with each level. */
    private static final Comparator<Inode> INNERMOST_FIRST =
            Comparator.comparingInt(ColdNames::depth).reversed().thenComparingLong(Inode::number);

    private final InodeTable inodes;
    private final SharedFiles files;
    private final Kernels kernels;
    private final long most;

    /** @param most the maximum number of inodes in use, plus {@link #STEP}s that the kernel has not forgotten yet */
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
     * Adds the directories that contain them, which became known earlier. The kernel does not forget a directory while
     * it knows anything in it, so directories come last here.
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

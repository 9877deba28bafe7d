package io.penstock.filesystem.kernel;

import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The kernels that can be notified: one for each mount that knows files by inode. Thread-safe. */
public final class Kernels {
    private final InodeTable inodes;
    private final List<KernelCache> told = new CopyOnWriteArrayList<>();

    public Kernels(InodeTable inodes) {
        this.inodes = inodes;
    }

    /** @return ends the notifications */
    public Runnable add(KernelCache kernel) {
        told.add(kernel);
        return () -> told.remove(kernel);
    }

    /** Whether the served kernel works by inodes, and looks a name up again when notified that the name is stale. */
    boolean goByInode() {
        return !told.isEmpty();
    }

    void dropInode(Inode inode, boolean pages) {
        told.forEach(kernel -> kernel.dropInode(inode.number(), pages));
    }

    /** {@link KernelCache#dropAttributes}. */
    public void dropAttributes(long inode) {
        told.forEach(kernel -> kernel.dropAttributes(inode));
    }

    /** The name refers to another inode now, or to none. */
    public void dropName(Place place) {
        Inode parent = inodes.find(place.parent());
        if (parent != null) {
            told.forEach(kernel -> kernel.dropName(parent.number(), place.name()));
        }
    }

    public boolean forgetDirectories() {
        return told.stream().allMatch(KernelCache::forgetsDirectories);
    }

    /** Asks kernels to forget names that are not in use: they look them up again when needed. */
    public void forget(List<Inode> unused) {
        for (Inode inode : unused) {
            Place place = inode.place();
            Inode parent = place == null ? null : inodes.find(place.parent());
            if (place != null && parent != null) {
                told.forEach(kernel -> kernel.forget(inode.number(), parent.number(), place.name()));
            }
        }
    }
}

package io.penstock.filesystem.kernel;

import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The kernels that can be notified: one for each mount that knows files by inode. Thread-safe. */
public final class Kernels {
    private final InodeTable inodes;
    private final List<KernelCache> kernels = new CopyOnWriteArrayList<>();

    public Kernels(InodeTable inodes) {
        this.inodes = inodes;
    }

    /** @return ends the notifications */
    public Runnable add(KernelCache kernel) {
        kernels.add(kernel);
        return () -> kernels.remove(kernel);
    }

    /** Whether the served kernel works by inodes, and looks a name up again when notified that the name is stale. */
    boolean goByInode() {
        return !kernels.isEmpty();
    }

    void dropInode(Inode inode, boolean pages) {
        kernels.forEach(kernel -> kernel.dropInode(inode.number(), pages));
    }

    /** {@link KernelCache#dropAttributes}. */
    public void dropAttributes(long inode) {
        kernels.forEach(kernel -> kernel.dropAttributes(inode));
    }

    /** The name refers to another inode now, or to none. */
    public void dropName(Place place) {
        Inode parent = inodes.find(place.parent());
        if (parent != null) {
            kernels.forEach(kernel -> kernel.dropName(parent.number(), place.name()));
        }
    }

    public boolean forgetDirectories() {
        return kernels.stream().allMatch(KernelCache::forgetsDirectories);
    }

    /** Asks kernels to forget names that are not in use: they look them up again when needed. */
    public void forget(List<Inode> unused) {
        for (Inode inode : unused) {
            Place place = inode.place();
            Inode parent = place == null ? null : inodes.find(place.parent());
            if (place != null && parent != null) {
                kernels.forEach(kernel -> kernel.forget(inode.number(), parent.number(), place.name()));
            }
        }
    }
}

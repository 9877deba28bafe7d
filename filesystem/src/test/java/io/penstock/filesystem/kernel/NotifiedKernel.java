package io.penstock.filesystem.kernel;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Records its invalidations. */
public final class NotifiedKernel implements KernelCache {
    private final List<String> told = new CopyOnWriteArrayList<>();

    @Override
    public void dropInode(long inode, boolean pages) {
        told.add("inode " + inode + (pages ? " and its pages" : ""));
    }

    @Override
    public void dropName(long parent, String name) {
        told.add("name " + parent + "/" + name);
    }

    @Override
    public boolean forgetsDirectories() {
        return false;
    }

    @Override
    public void forget(long inode, long parent, String name) {
        told.add("forget " + inode + " of " + parent + "/" + name);
    }

    /** The invalidations since the last call. */
    public List<String> drain() {
        List<String> drained = List.copyOf(told);
        told.clear();
        return drained;
    }
}

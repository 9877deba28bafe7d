package io.penstock.filesystem;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.OpenHandle.OpenDirectory;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Inode;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Listing;
import io.penstock.metadata.Tree;
import io.penstock.metadata.Tree.Believed;
import io.penstock.objectstore.ObjectStoreException;
import org.jspecify.annotations.Nullable;

/** Hands a directory's entries out. Offset 0 is {@code .}, 1 is {@code ..}, and the listing's first entry follows. */
final class DirectoryReader {
    private static final int FIRST_ENTRY = 2;

    private final Tree tree;
    private final InodeTable inodes;
    private final OpenFiles files;
    private final AttributeView view;
    private final KernelPages kernelListings;

    DirectoryReader(Tree tree, InodeTable inodes, OpenFiles files, AttributeView view, KernelPages kernelListings) {
        this.tree = tree;
        this.inodes = inodes;
        this.files = files;
        this.view = view;
        this.kernelListings = kernelListings;
    }

    /**
     * Waits only for the first entry: what has not arrived when it would be handed out waits for the next call.
     *
     * @param counted whether each entry that the sink takes is looked up thereby
     */
    void read(OpenDirectory open, long offset, DirectorySink sink, boolean counted) throws ErrnoException {
        if (offset < 0 || offset > Integer.MAX_VALUE) {
            throw new ErrnoException(Errno.EINVAL, "no such directory offset: " + offset);
        }
        if (offset == 0) {
            start(open);
            if (!sink.add(".", view.of(open.inode().number(), open.directory(), 0), 1)) {
                return;
            }
        }
        if (offset <= 1 && !sink.add("..", parentOf(open.inode()), FIRST_ENTRY)) {
            return;
        }
        Listing listing = open.listing();
        int index = (int) Math.max(0, offset - FIRST_ENTRY);
        boolean any = offset < FIRST_ENTRY;
        while (any ? listing.has(index) : await(listing, index)) {
            Listing.Entry entry = listing.get(index++);
            if (entry != null) {
                if (!add(open.directory(), entry, (long) index + FIRST_ENTRY, sink, counted)) {
                    return;
                }
                any = true;
            }
        }
    }

    /** What is read next may end up in the kernel's copy: of what was opened, or of nothing that anybody knows. */
    private void start(OpenDirectory open) {
        if (open.firstRead()) {
            if (open.isCached()) {
                kernelListings.confirm(open.inode().number());
            }
        } else {
            open.rewind(tree.list(open.directory()));
        }
        if (open.isCached() && !open.isAsOpened()) {
            kernelListings.distrust(open.inode().number());
        }
    }

    private boolean add(Directory directory, Listing.Entry entry, long next, DirectorySink sink, boolean counted) {
        if (!counted) {
            Inode known = inodes.find(directory, entry.name());
            return sink.add(entry.name(), view.of(number(known), entry.node(), 0), next);
        }
        Inode inode = files.acquire(directory, entry.name(), entry.node());
        boolean taken =
                sink.add(entry.name(), view.of(inode.number(), entry.node(), validNanos(directory, entry)), next);
        if (!taken) {
            inodes.release(inode, 1);
        }
        return taken;
    }

    /** An entry of an older listing, and one that turned out to be wrong, is shown but not believed. */
    private long validNanos(Directory directory, Listing.Entry entry) {
        Believed believed = tree.believeNow(directory, entry.name());
        return believed != null && believed.answer().equals(entry.node()) ? believed.nanos() : 0;
    }

    /** The root is its own parent, as in every file system. */
    private Attributes parentOf(Inode inode) {
        Directory parent = inode.parent() == null ? tree.root() : inode.parent();
        return view.of(number(inodes.find(parent)), parent, 0);
    }

    private static long number(@Nullable Inode inode) {
        return inode == null ? FileSystem.UNKNOWN_INODE : inode.number();
    }

    private static boolean await(Listing listing, int index) throws ErrnoException {
        try {
            return listing.await(index);
        } catch (ObjectStoreException e) {
            throw Errnos.of(e);
        } catch (InterruptedException e) {
            throw Errnos.interrupted(e);
        }
    }
}

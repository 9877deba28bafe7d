package io.penstock.filesystem.names;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.files.SharedFile;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.kernel.KernelContent;
import io.penstock.filesystem.kernel.KernelView;
import io.penstock.filesystem.kernel.KernelView.Fit;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Node;
import org.jspecify.annotations.Nullable;

/**
 * Assigns inodes to names. A name gets a new inode if the kernel uses the present one for another version. Thread-safe.
 */
public final class NamedInodes {
    private final InodeTable inodes;
    private final SharedFiles files;
    private final KernelView kernel;
    private final ColdNames coldNames;

    public NamedInodes(InodeTable inodes, SharedFiles files, ColdNames coldNames) {
        this.inodes = inodes;
        this.files = files;
        this.kernel = files.kernel();
        this.coldNames = coldNames;
    }

    /** The name was looked up: its inode, with one more reference. */
    public Inode acquire(Directory parent, String name, Node node) {
        Inode known = files.inode(new Place(parent, name), node);
        if (known != null
                && kernel.fit(known, node) == Fit.ANOTHER
                && kernel.fit(known, now(parent, name, node)) == Fit.ANOTHER) {
            inodes.retire(known);
        }
        Inode acquired = inodes.acquire(parent, name, node);
        coldNames.acquired(acquired);
        kernel.lookedUp(acquired, node);
        return acquired;
    }

    /** The node at the name now, if that is known: a writer may have begun since. */
    private Node now(Directory parent, String name, Node before) {
        return files.tree().lookupNow(parent, name) instanceof Node now ? now : before;
    }

    /**
     * New content is about to take this name. If the kernel has the present inode open, its readers would lose their
     * content; if the kernel keeps sizes, the inode would keep its size.
     */
    public void makeRoom(Directory parent, String name) {
        Inode known = inodes.find(parent, name);
        if (known != null && kernel.isTaken(known)) {
            inodes.retire(known);
        }
    }

    /** ESTALE: the kernel must look the inode's name up again, and then gets another inode. */
    public ErrnoException stale(Inode inode) {
        inodes.retire(inode);
        return new ErrnoException(Errno.ESTALE, inode + " is another version for the kernel");
    }

    /**
     * The file that the kernel has open under this inode, and that it reads directly or has pages of. The inode shows
     * this file, whatever its place shows now: another size would cut off readers. Null if there is no such file.
     */
    public @Nullable SharedFile opened(long number) {
        Inode inode = inodes.get(number);
        KernelContent content = inode == null ? null : kernel.openContent(inode);
        if (content != null) {
            for (SharedFile file : files.of(number)) {
                if (file.kernelContent().equals(content)) {
                    return file;
                }
            }
        }
        return null;
    }
}

package io.penstock.filesystem;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Inode;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Names;
import io.penstock.metadata.Node;
import io.penstock.metadata.Tree;
import io.penstock.metadata.Tree.Believed;
import io.penstock.objectstore.ObjectStoreException;
import org.jspecify.annotations.Nullable;

/** Says what inodes and names stand for at this moment, or throws the errno of why not. Thread-safe. */
final class Places {
    private final Tree tree;
    private final InodeTable inodes;

    Places(Tree tree, InodeTable inodes) {
        this.tree = tree;
        this.inodes = inodes;
    }

    Inode inode(long number) throws ErrnoException {
        Inode inode = inodes.get(number);
        if (inode == null) {
            throw new ErrnoException(Errno.ESTALE, "inode " + number + " is not in use");
        }
        return inode;
    }

    Directory directory(long number) throws ErrnoException {
        Inode inode = inode(number);
        if (inode.directory() == null) {
            throw new ErrnoException(Errno.ENOTDIR, "'" + inode.name() + "' is not a directory");
        }
        return inode.directory();
    }

    /** What stands at an inode's place, and for how long that may be believed. */
    record Standing(Node node, long validNanos) {}

    /** What stands at the inode's place: ESTALE if nothing does, or something of another kind. */
    Standing standing(long number) throws ErrnoException {
        Inode inode = inode(number);
        Directory parent = inode.parent();
        return parent == null ? root() : same(inode, answer(parent, inode.name()));
    }

    /** The same if it is known: null if it is not. */
    @Nullable
    Standing standingNow(long number) throws ErrnoException {
        Inode inode = inode(number);
        Directory parent = inode.parent();
        if (parent == null) {
            return root();
        }
        Believed believed = tree.believeNow(parent, inode.name());
        return believed == null ? null : same(inode, believed);
    }

    /** {@link #standing} for who does not ask how long. */
    Node node(long number) throws ErrnoException {
        return standing(number).node();
    }

    Believed answer(Directory directory, String name) throws ErrnoException {
        checkLength(name);
        try {
            return tree.believe(directory, name);
        } catch (ObjectStoreException e) {
            throw Errnos.of(e);
        } catch (InterruptedException e) {
            throw Errnos.interrupted(e);
        }
    }

    /** The same if it is known: null if it is not. */
    @Nullable
    Believed answerNow(Directory directory, String name) throws ErrnoException {
        checkLength(name);
        return tree.believeNow(directory, name);
    }

    private Standing root() {
        return new Standing(tree.root(), Long.MAX_VALUE);
    }

    private static Standing same(Inode inode, Believed believed) throws ErrnoException {
        if (believed.answer() instanceof Node node && inode.isDirectory() == node instanceof Directory) {
            return new Standing(node, believed.nanos());
        }
        throw new ErrnoException(Errno.ESTALE, "'" + inode.name() + "' is no longer what it was");
    }

    private static void checkLength(String name) throws ErrnoException {
        if (Names.utf8Length(name) > Names.MAX_NAME_BYTES) {
            throw new ErrnoException(Errno.ENAMETOOLONG, "a name of more than " + Names.MAX_NAME_BYTES + " bytes");
        }
    }
}

package io.penstock.filesystem;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.metadata.Answer;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Inode;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Names;
import io.penstock.metadata.Node;
import io.penstock.metadata.Tree;
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

    /** What stands at the inode's place: ESTALE if nothing does, or something of another kind. */
    Node node(long number) throws ErrnoException {
        Inode inode = inode(number);
        Directory parent = inode.parent();
        return parent == null ? tree.root() : same(inode, answer(parent, inode.name()));
    }

    /** The same if it is known: null if it is not. */
    @Nullable
    Node nodeNow(long number) throws ErrnoException {
        Inode inode = inode(number);
        Directory parent = inode.parent();
        if (parent == null) {
            return tree.root();
        }
        Answer answer = tree.lookupNow(parent, inode.name());
        return answer == null ? null : same(inode, answer);
    }

    Answer answer(Directory directory, String name) throws ErrnoException {
        checkLength(name);
        try {
            return tree.lookup(directory, name);
        } catch (ObjectStoreException e) {
            throw Errnos.of(e);
        } catch (InterruptedException e) {
            throw Errnos.interrupted(e);
        }
    }

    /** The same if it is known: null if it is not. */
    @Nullable
    Answer answerNow(Directory directory, String name) throws ErrnoException {
        checkLength(name);
        return tree.lookupNow(directory, name);
    }

    private static Node same(Inode inode, Answer answer) throws ErrnoException {
        if (answer instanceof Node node && inode.isDirectory() == node instanceof Directory) {
            return node;
        }
        throw new ErrnoException(Errno.ESTALE, "'" + inode.name() + "' is no longer what it was");
    }

    private static void checkLength(String name) throws ErrnoException {
        if (Names.utf8Length(name) > Names.MAX_NAME_BYTES) {
            throw new ErrnoException(Errno.ENAMETOOLONG, "a name of more than " + Names.MAX_NAME_BYTES + " bytes");
        }
    }
}

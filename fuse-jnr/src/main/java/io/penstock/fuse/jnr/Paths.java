package io.penstock.fuse.jnr;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.Attributes;
import io.penstock.filesystem.FileSystem;

/** Turns libfuse's paths, absolute within the mount and without dots, into the file system's inodes. */
final class Paths {
    /** A name and its directory, whether or not the name exists. */
    record Place(long directory, String name) {}

    private final FileSystem fileSystem;
    private final HeldLookups lookups;

    Paths(FileSystem fileSystem) {
        this.fileSystem = fileSystem;
        this.lookups = new HeldLookups(inode -> fileSystem.forget(inode, 1));
    }

    /** Looks up one name after the other, from the root. */
    Attributes attributes(String path) throws ErrnoException {
        Attributes found = null;
        long inode = FileSystem.ROOT;
        int start = 1;
        while (start < path.length()) {
            int slash = path.indexOf('/', start);
            int end = slash < 0 ? path.length() : slash;
            found = held(fileSystem.lookup(inode, path.substring(start, end)));
            inode = found.inode();
            start = end + 1;
        }
        return found == null ? fileSystem.getattr(FileSystem.ROOT) : found;
    }

    long inode(String path) throws ErrnoException {
        return path.length() == 1 ? FileSystem.ROOT : attributes(path).inode();
    }

    Place place(String path) throws ErrnoException {
        int slash = path.lastIndexOf('/');
        if (path.length() == 1) {
            throw new ErrnoException(Errno.EBUSY, "the root of a mount stays");
        }
        return new Place(inode(slash == 0 ? "/" : path.substring(0, slash)), path.substring(slash + 1));
    }

    /** For an inode that was looked up at its creation. */
    Attributes held(Attributes lookedUp) {
        lookups.hold(lookedUp.inode());
        return lookedUp;
    }

    void forgetAll() {
        lookups.releaseAll();
    }
}

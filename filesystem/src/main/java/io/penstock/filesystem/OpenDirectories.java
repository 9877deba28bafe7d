package io.penstock.filesystem;

import io.penstock.core.ErrnoException;
import io.penstock.filesystem.OpenFile.PageCachePolicy;
import io.penstock.filesystem.OpenHandle.OpenDirectory;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Inode;
import io.penstock.metadata.InodeTable;

/** Opens directories, reads and closes them by handle. Safe for use by any number of threads. */
final class OpenDirectories {
    private final Places places;
    private final InodeTable inodes;
    private final HandleTable handles;
    private final DirectoryReader reader;

    /** Which listings the kernel keeps. */
    private final KernelPages kernelListings;

    OpenDirectories(
            Places places, InodeTable inodes, HandleTable handles, DirectoryReader reader, KernelPages kernelListings) {
        this.places = places;
        this.inodes = inodes;
        this.handles = handles;
        this.reader = reader;
        this.kernelListings = kernelListings;
    }

    OpenFile open(long number) throws ErrnoException {
        Directory directory = places.directory(number);
        Inode inode = places.inode(number);
        places.node(number);
        OpenDirectory.View shown = reader.view(directory);
        inodes.acquire(inode);
        PageCachePolicy policy = kernelListings.openListing(number, shown.edition());
        boolean cached = policy != PageCachePolicy.BYPASS;
        return new OpenFile(handles.add(new OpenDirectory(inode, directory, shown, cached)), policy);
    }

    /** @param counted whether each entry that the sink takes is looked up thereby */
    void read(long handle, long offset, DirectorySink sink, boolean counted) throws ErrnoException {
        reader.read(handles.directory(handle), offset, sink, counted);
    }

    void close(OpenDirectory directory) {
        if (directory.isCached()) {
            kernelListings.close(directory.inode().number());
        }
        inodes.release(directory.inode(), 1);
    }
}

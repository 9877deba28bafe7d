package io.penstock.filesystem;

import static java.util.Objects.requireNonNull;

import io.penstock.core.ErrnoException;
import io.penstock.filesystem.KernelContent.Listing;
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

    private final KernelView kernel;

    OpenDirectories(Places places, InodeTable inodes, HandleTable handles, DirectoryReader reader, KernelView kernel) {
        this.places = places;
        this.inodes = inodes;
        this.handles = handles;
        this.reader = reader;
        this.kernel = kernel;
    }

    OpenFile open(long number) throws ErrnoException {
        Directory directory = places.directory(number);
        Inode inode = places.inode(number);
        places.node(number);
        OpenDirectory.View shown = reader.view(directory);
        inodes.acquire(inode);
        PageCachePolicy policy = requireNonNull(kernel.open(inode, new Listing(shown.edition()), null))
                .policy();
        boolean cached = policy != PageCachePolicy.BYPASS;
        return new OpenFile(handles.add(new OpenDirectory(inode, directory, shown, cached)), policy);
    }

    /** @param counted whether each entry that the sink takes is looked up thereby */
    void read(long handle, long offset, DirectorySink sink, boolean counted) throws ErrnoException {
        reader.read(handles.directory(handle), offset, sink, counted);
    }

    void close(OpenDirectory directory) {
        if (directory.isCached()) {
            BackingFile _ = kernel.close(directory.inode()); // a directory has none
        }
        inodes.release(directory.inode(), 1);
    }
}

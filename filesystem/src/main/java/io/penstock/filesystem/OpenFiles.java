package io.penstock.filesystem;

import io.penstock.cache.WholeFile;
import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.OpenFile.PageCachePolicy;
import io.penstock.filesystem.OpenHandle.OpenObject;
import io.penstock.filesystem.Places.Standing;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Node;
import io.penstock.objectstore.StoredObject;
import io.penstock.prefetch.ObjectReader;
import io.penstock.prefetch.PageFetcher;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens and closes files, and sees to it that an inode which is passed through stands for that version alone: its size
 * is that of the kernel's backing file, and another version gets another inode. Thread-safe.
 */
final class OpenFiles {
    private static final Logger log = LoggerFactory.getLogger(OpenFiles.class);

    // open(2)'s flags, from include/uapi/asm-generic/fcntl.h: the same on x86-64 and aarch64.
    private static final int O_ACCMODE = 3;
    private static final int O_CREAT = 0100;
    private static final int O_TRUNC = 01000;

    private final PageFetcher fetcher;
    private final InodeTable inodes;
    private final HandleTable handles;
    private final Passthrough passthrough;
    private final KernelPages kernelPages = new KernelPages();

    OpenFiles(PageFetcher fetcher, InodeTable inodes, HandleTable handles, Passthrough passthrough) {
        this.fetcher = fetcher;
        this.inodes = inodes;
        this.handles = handles;
        this.passthrough = passthrough;
    }

    /** @throws ErrnoException EROFS unless the flags open a file that is there to be read */
    static void checkReads(int flags) throws ErrnoException {
        if ((flags & (O_ACCMODE | O_CREAT | O_TRUNC)) != 0) {
            throw Errnos.readOnly();
        }
    }

    /**
     * @param node what stands at the inode's place
     * @param kernel null if it reads nothing by itself
     * @throws ErrnoException EISDIR; ESTALE if the name is to be looked up again, which gives it another inode
     */
    OpenFile open(Inode inode, Node node, @Nullable BackingFiles kernel) throws ErrnoException {
        StoredObject object = object(inode, node);
        ObjectReader reader = fetcher.open(object.version());
        BackingFile file = mayPassThrough(inode, reader, kernel) ? handOver(reader, object, kernel) : null;
        return open(inode, object, reader, file);
    }

    /** The same if it takes no disk: null if it does. */
    @Nullable
    OpenFile openNow(Inode inode, Node node, @Nullable BackingFiles kernel) throws ErrnoException {
        StoredObject object = object(inode, node);
        ObjectReader reader = fetcher.open(object.version());
        if (mayPassThrough(inode, reader, kernel)) {
            reader.close();
            return null;
        }
        return open(inode, object, reader, null);
    }

    private static StoredObject object(Inode inode, Node node) throws ErrnoException {
        return switch (node) {
            case Directory _ -> throw new ErrnoException(Errno.EISDIR, "'" + inode.name() + "' is a directory");
            case FileEntry(StoredObject object) -> object;
        };
    }

    private boolean mayPassThrough(Inode inode, ObjectReader reader, @Nullable BackingFiles kernel) {
        return kernel != null
                && passthrough != Passthrough.OFF
                && kernelPages.mayPassThrough(inode.number())
                && reader.isWhole();
    }

    private @Nullable BackingFile handOver(ObjectReader reader, StoredObject object, @Nullable BackingFiles kernel) {
        WholeFile file = reader.wholeFile(passthrough == Passthrough.VERIFIED);
        if (file == null || kernel == null) {
            return null;
        }
        try {
            return new BackingFile(kernel, file, object);
        } catch (IOException e) {
            log.warn(
                    "The kernel does not read {} by itself: {}",
                    object.version().key(),
                    e.getMessage());
            return null;
        }
    }

    /** @param file closed if it is not used */
    private OpenFile open(Inode inode, StoredObject object, ObjectReader reader, @Nullable BackingFile file)
            throws ErrnoException {
        PageCachePolicy policy =
                kernelPages.open(inode.number(), object.version().etag(), file);
        BackingFile used = policy == PageCachePolicy.PASS_THROUGH ? kernelPages.backingFile(inode.number()) : null;
        if (file != null && file != used) {
            file.close();
        }
        if (policy == null) {
            reader.close();
            inodes.retire(inode);
            throw new ErrnoException(Errno.ESTALE, "an older version of '" + inode.name() + "' is passed through");
        }
        inodes.acquire(inode);
        long handle = handles.add(new OpenObject(inode, object.version(), reader, policy != PageCachePolicy.BYPASS));
        return new OpenFile(handle, policy, used == null ? 0 : used.id());
    }

    /** To be called before each read. */
    void confirm(OpenObject open) {
        if (open.isCached() && open.firstRead()) {
            kernelPages.confirm(open.inode().number());
        }
    }

    /** Of a handle that is no longer in the table; the reference to its inode is left. */
    void close(OpenObject open) {
        open.reader().close();
        BackingFile unused = open.isCached() ? kernelPages.close(open.inode().number()) : null;
        if (unused != null) {
            unused.close();
        }
    }

    /**
     * The version that the kernel reads by itself under this inode, whatever its place stands for now: null if it does
     * not. Not to be believed for long, as it ends with the last close.
     */
    @Nullable
    Standing passedThrough(long inode) {
        BackingFile file = kernelPages.backingFile(inode);
        return file == null ? null : new Standing(new FileEntry(file.object()), 0);
    }

    /** Whether anybody has the inode open, but past the kernel's pages. */
    boolean isOpen(long inode) {
        return kernelPages.isOpen(inode);
    }

    int backingFiles() {
        return kernelPages.backingFiles();
    }

    /** {@link InodeTable#acquire}, but another inode if the one there is passed through in another version. */
    Inode acquire(Directory parent, String name, Node node) {
        Inode known = inodes.find(parent, name);
        BackingFile file = known == null ? null : kernelPages.backingFile(known.number());
        if (known != null && file != null && node instanceof FileEntry(StoredObject current)) {
            if (!file.object().version().etag().equals(current.version().etag())) {
                inodes.retire(known);
            }
        }
        return inodes.acquire(parent, name, node);
    }
}

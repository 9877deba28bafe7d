package io.penstock.filesystem;

import io.penstock.cache.PageCache;
import io.penstock.cache.disk.WholeFile;
import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.OpenHandle.LostFile;
import io.penstock.filesystem.OpenHandle.OpenObject;
import io.penstock.filesystem.files.SharedFile;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.kernel.BackingFile;
import io.penstock.filesystem.kernel.BackingFiles;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.filesystem.kernel.Inherited;
import io.penstock.filesystem.kernel.KernelView;
import io.penstock.filesystem.kernel.KernelView.Fit;
import io.penstock.filesystem.kernel.KernelView.Opened;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.filesystem.kernel.OpenFile.PageCachePolicy;
import io.penstock.filesystem.names.NamedInodes;
import io.penstock.filesystem.names.NodeResolver;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.LiveFile;
import io.penstock.metadata.Node;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.prefetch.ObjectReader;
import io.penstock.writeback.WrittenFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens files, and reads and closes them by handle. Thread-safe. */
final class OpenFiles {
    private static final Logger log = LoggerFactory.getLogger(OpenFiles.class);

    // lseek(2)'s whence, from include/uapi/linux/fs.h.
    private static final int SEEK_DATA = 3;
    private static final int SEEK_HOLE = 4;

    private final NodeResolver resolver;
    private final SharedFiles files;
    private final NamedInodes inodes;
    private final HandleTable handles;
    private final KernelView kernel;
    private final Passthrough passthrough;
    private final long passthroughFrom;

    OpenFiles(
            NodeResolver resolver,
            SharedFiles files,
            NamedInodes inodes,
            HandleTable handles,
            FileSystemConfig config) {
        this.resolver = resolver;
        this.files = files;
        this.inodes = inodes;
        this.handles = handles;
        this.kernel = files.kernel();
        this.passthrough = config.passthrough();
        this.passthroughFrom = config.passthroughFrom();
    }

    /**
     * The file shared by the handles of the inode's current content. Joined once more, so the caller must leave it. The
     * first to write asks the store for the current version, on which a commit is conditional: close-to-open
     * consistency, as in NFS.
     */
    SharedFile join(long number, boolean write) throws ErrnoException {
        Inode inode = resolver.inode(number);
        SharedFile file = join(inode, current(number, write), write);
        while (file == null) {
            Errnos.run(() -> files.awaitEnds(inode));
            file = join(inode, current(number, write), write);
        }
        return file;
    }

    private Node current(long number, boolean write) throws ErrnoException {
        return write ? resolver.revalidated(number) : resolver.node(number);
    }

    /** The same for the node at the inode's place: null if another node is there by now. */
    private @Nullable SharedFile join(Inode inode, Node node, boolean write) throws ErrnoException {
        if (node instanceof SharedFile file && file.inode().number() != inode.number()) {
            throw inodes.stale(inode); // the file being written at the name belongs to another inode
        }
        switch (kernel.fit(inode, node)) {
            case SAME -> {}
            case UNKNOWN -> kernel.mustAskAgain(inode); // no ESTALE: a program sees the second in a row
            case OUTDATED -> {
                kernel.mustAskAgain(inode);
                throw new ErrnoException(Errno.ESTALE, inode + " is not the version that the kernel was shown");
            }
            case ANOTHER -> {
                Node now = resolver.nodeNow(inode.number());
                if (now == null || kernel.fit(inode, now) == Fit.ANOTHER) { // a written file is always known
                    throw inodes.stale(inode);
                }
                return null; // a writer has begun since
            }
        }
        SharedFile file = switch (node) {
            case Directory _ -> throw new ErrnoException(Errno.EISDIR, inode + " is a directory");
            case FileEntry(StoredObject object) -> files.join(inode, readable(object.version()), write);
            case LiveFile live -> files.join(inode, live, write);
        };
        if (file == null) {
            return null;
        }
        boolean current = false;
        try {
            current = isCurrent(file, node);
        } finally {
            if (!current) {
                file.leave(write);
            }
        }
        return current ? file : null;
    }

    private static ObjectVersion readable(ObjectVersion version) throws ErrnoException {
        if (version.size() > ObjectVersion.LARGEST) {
            throw new ErrnoException(Errno.EFBIG, version.key() + " has " + version.size() + " bytes, by its listing");
        }
        return version;
    }

    /** Whether the name still has this content, despite commits and removals here while the file was joined. */
    private boolean isCurrent(SharedFile file, Node node) throws ErrnoException {
        Node now = resolver.nodeNow(file.inode().number());
        return now == null
                || now.equals(node)
                || (now.equals(file) && file.links() > 0)
                || (now instanceof FileEntry(StoredObject object) && file.isOf(object.version()));
    }

    /**
     * Opens a file for reading.
     *
     * @param direct null if the kernel reads nothing directly
     * @throws ErrnoException ESTALE if the name must be looked up again, and gets another inode
     */
    OpenFile open(long number, int flags, @Nullable BackingFiles direct) throws ErrnoException {
        SharedFile file = join(number, false);
        BackingFile backing = null;
        boolean handedOver = false;
        try {
            backing = mayPassThrough(file, direct) ? handOver(file, direct) : null;
            handedOver = true;
        } finally {
            if (!handedOver) {
                file.leave(false);
            }
        }
        return add(file, flags, backing);
    }

    /** The same if it need not wait, not even for the disk: null if it must. */
    @Nullable
    OpenFile openNow(long number, int flags, @Nullable BackingFiles direct) throws ErrnoException {
        Node known = resolver.nodeNow(number);
        SharedFile file = known == null ? null : join(resolver.inode(number), known, false);
        if (file != null && mayPassThrough(file, direct)) {
            file.leave(false);
            return null;
        }
        return file == null ? null : add(file, flags, null);
    }

    /**
     * A file that an earlier process of this mount opened.
     *
     * @param direct null if the kernel reads nothing directly
     */
    void inherit(Inherited.File open, @Nullable BackingFiles direct) throws ErrnoException {
        Inode inode = resolver.inode(open.node());
        SharedFile file = joinInherited(inode, open);
        if (file == null) {
            handles.inherit(open.handle(), new LostFile(inode));
            return;
        }
        if (open.isCached()) {
            BackingFile first = direct == null || open.backing() == 0 || kernel.isPassedThrough(inode)
                    ? null
                    : new BackingFile(direct, wholeFile(file), open.backing());
            Opened _ = file.openPages(first);
        }
        handles.inherit(open.handle(), handle(file, open.flags(), open.isCached()));
    }

    /** Its file, joined: null if that was written, and the content is lost. */
    private @Nullable SharedFile joinInherited(Inode inode, Inherited.File open) {
        boolean write = OpenFlags.isChange(open.flags());
        SharedFile survivor = files.survivor(open);
        ObjectVersion version = open.version();
        if (survivor != null) {
            return files.join(inode, survivor, write);
        }
        return version == null ? null : files.join(inode, version, write);
    }

    private static OpenObject handle(SharedFile file, int flags, boolean isCached) {
        OpenObject handle = new OpenObject(file, flags, isCached);
        if (!handle.isWritable()) {
            WrittenFile _ = file.flush(handle.opener()); // no commit needs to wait for this handle
        }
        return handle;
    }

    /** A handle as the mount's next process must know it. */
    Inherited.File inheritable(long handle) throws ErrnoException {
        return inheritable(handle, handles.object(handle));
    }

    /** The same for the open files at this name, and below it. */
    List<Inherited.File> inheritable(long parent, String name) throws ErrnoException {
        Place place = new Place(resolver.directory(parent), name);
        Directory directory = place.parent().child(name);
        List<Inherited.File> found = new ArrayList<>();
        handles.forEachObject((number, handle) -> {
            Place at = handle.inode().place();
            if (at != null && (at.equals(place) || at.parent().isWithin(directory))) {
                found.add(inheritable(number, handle));
            }
        });
        return found;
    }

    private Inherited.File inheritable(long number, OpenObject handle) {
        Inode inode = handle.inode();
        int backing = handle.isCached() ? kernel.backing(inode) : 0;
        WrittenFile written = handle.file().written();
        return new Inherited.File(
                number,
                inode.number(),
                handle.flags(),
                handle.isCached(),
                backing,
                written == null ? 0 : written.number(),
                written == null ? handle.file().stored() : null);
    }

    private static @Nullable WholeFile wholeFile(SharedFile file) {
        ObjectReader reader = file.content().reader();
        return reader == null ? null : reader.wholeFile(false);
    }

    /** A handle of a file that was joined to write. */
    OpenFile add(SharedFile file, int flags) throws ErrnoException {
        return add(file, flags, null);
    }

    /** @param backing closed if it is not used */
    private OpenFile add(SharedFile file, int flags, @Nullable BackingFile backing) throws ErrnoException {
        Inode inode = file.inode();
        Opened opened = file.openPages(backing);
        BackingFile used = opened == null ? null : opened.file();
        if (backing != null && backing != used) {
            backing.close();
        }
        if (opened == null) {
            file.leave(OpenFlags.isChange(flags));
            throw inodes.stale(inode);
        }
        OpenObject handle = handle(file, flags, opened.policy() != PageCachePolicy.BYPASS);
        int backingId = used == null ? 0 : used.id();
        ObjectReader reader = file.content().reader();
        return new OpenFile(handles.add(handle), opened.policy(), backingId, reader != null && reader.isStreamed());
    }

    /** Whether this open may be passed through. If the cache only lacks some of the file, a later open may be. */
    private boolean mayPassThrough(SharedFile file, @Nullable BackingFiles direct) {
        boolean isEligible = direct != null
                && passthrough != Passthrough.OFF
                && file.size() >= passthroughFrom
                && PageCache.hasOwnFile(file.size()); // objects smaller than a page have none
        ObjectReader reader = file.content().reader();
        if (!isEligible || reader == null) {
            return false;
        }
        if (!reader.isWhole()) {
            reader.completeAtClose();
            return false;
        }
        return kernel.mayPassThrough(file.inode());
    }

    private @Nullable BackingFile handOver(SharedFile file, @Nullable BackingFiles direct) throws ErrnoException {
        if (direct == null
                || !(resolver.nodeNow(file.inode().number()) instanceof FileEntry(StoredObject object))
                || !file.isOf(object.version())) {
            return null;
        }
        ObjectReader reader = file.content().reader();
        WholeFile whole = reader == null ? null : reader.wholeFile(passthrough == Passthrough.VERIFIED);
        if (whole == null) {
            return null;
        }
        try {
            return new BackingFile(direct, whole);
        } catch (IOException e) {
            log.warn(
                    "The kernel does not read {} directly: {}", object.version().key(), e.getMessage());
            return null;
        }
    }

    /** A read has failed. If the store no longer has the file's version, the cached answer about its name is wrong. */
    void readFailed(SharedFile file, Exception failure) {
        boolean gone = failure instanceof ObjectStoreException.NotFound;
        if (!gone && !(failure instanceof ObjectStoreException.PreconditionFailed)) {
            return;
        }
        Place place = file.inode().place();
        ObjectVersion version = file.stored();
        if (place != null && version != null) {
            files.tree().invalidate(place.parent(), place.name(), version);
            kernel.isStale(file.inode(), version, gone);
        }
    }

    long seek(long handle, long offset, int whence) throws ErrnoException {
        SharedFile file = handles.object(handle).file();
        if (whence != SEEK_DATA && whence != SEEK_HOLE) {
            throw new ErrnoException(Errno.EINVAL, "no such whence: " + whence);
        }
        long found = offset < 0 ? -1 : file.content().seek(offset, whence == SEEK_HOLE);
        if (found < 0) {
            throw new ErrnoException(Errno.ENXIO, "offset %d of a file of %d bytes".formatted(offset, file.size()));
        }
        return found;
    }

    void close(OpenObject open) {
        BackingFile unused = open.isCached() ? kernel.close(open.inode()) : null;
        if (unused != null) {
            unused.close();
        }
        open.file().leave(open.opener());
    }
}

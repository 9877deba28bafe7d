package io.penstock.filesystem;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.LentBytes;
import io.penstock.filesystem.OpenFile.PageCachePolicy;
import io.penstock.filesystem.OpenHandle.OpenDirectory;
import io.penstock.filesystem.OpenHandle.OpenObject;
import io.penstock.filesystem.Places.Standing;
import io.penstock.metadata.Absent;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Inode;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Listing;
import io.penstock.metadata.Names;
import io.penstock.metadata.Node;
import io.penstock.metadata.Tree;
import io.penstock.metadata.Tree.Believed;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.prefetch.PageFetcher;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One mounted bucket as a POSIX file system, by inode and handle. Calls may wait for the store: make them on threads
 * that may. Those whose name ends in {@code Now} never wait. Safe for use by any number of threads; all reads are
 * positional. An interrupt ends a waiting call with EINTR and leaves the thread's flag set.
 *
 * <p>{@code lookup} adds one to an inode's lookup count, {@code forget} takes some off; the inode's number is good
 * while the count is above zero or something on it is open. The root is always good. An inode whose name has gone, or
 * stands for something of another kind, answers ESTALE, upon which the kernel looks the path up again.
 *
 * <p>Any call that asks the store may throw EACCES (the store denies it), EIO (it fails) or ESTALE (the bucket is
 * gone), as {@link Errnos} has it.
 */
public final class FileSystem implements AutoCloseable {
    /** The root directory's inode. */
    public static final long ROOT = InodeTable.ROOT;

    /** The number of an inode that has none yet: FUSE_UNKNOWN_INO of libfuse's lib/fuse.c. */
    public static final long UNKNOWN_INODE = 0xffff_ffffL;

    /** What {@link #readNow} returns instead of a byte count when it would have to wait. */
    public static final int WOULD_WAIT = -1;

    // lseek(2)'s whence, from include/uapi/linux/fs.h.
    private static final int SEEK_DATA = 3;
    private static final int SEEK_HOLE = 4;

    /** A pebibyte, all of it free: a bucket has no bounds, and programs look for room before they write. */
    private static final Statfs STATFS = new Statfs(4096, 1L << 38, 1L << 38, Names.MAX_NAME_BYTES);

    private final Tree tree;
    private final AttributeView view;
    private final InodeTable inodes;
    private final Places places;
    private final DirectoryReader reader;
    private final HandleTable handles = new HandleTable();
    private final OpenFiles files;
    private final KernelPages kernelListings = new KernelPages();
    private final KernelNews news;

    /**
     * Tree and fetcher stay the caller's, to be closed after this.
     *
     * @param mountTime what directories show as their time
     */
    public FileSystem(Tree tree, PageFetcher fetcher, FileSystemConfig config, Instant mountTime) {
        this.tree = tree;
        this.view = new AttributeView(config, mountTime);
        this.inodes = new InodeTable(tree.root());
        this.places = new Places(tree, inodes);
        this.files = new OpenFiles(fetcher, inodes, handles, config.passthrough());
        this.reader = new DirectoryReader(tree, inodes, files, view, kernelListings);
        this.news = new KernelNews(inodes, files);
        tree.tell(news::heard);
    }

    /**
     * From now on tells a kernel when what it was shown turns out to be wrong before its time.
     *
     * @return what ends it
     */
    public Runnable tell(KernelCache kernel) {
        return news.tell(kernel);
    }

    /** @throws ErrnoException ENOENT as {@link AbsentException}, ENOTDIR, ENAMETOOLONG */
    public Attributes lookup(long parent, String name) throws ErrnoException {
        Directory directory = places.directory(parent);
        return acquire(directory, name, places.answer(directory, name));
    }

    /** {@link #lookup} if the answer is known: null if it is not. */
    public @Nullable Attributes lookupNow(long parent, String name) throws ErrnoException {
        Directory directory = places.directory(parent);
        Believed believed = places.answerNow(directory, name);
        return believed == null ? null : acquire(directory, name, believed);
    }

    /** Takes {@code lookups} off the inode's lookup count. */
    public void forget(long inode, long lookups) {
        Inode known = inodes.get(inode);
        if (known != null) {
            inodes.release(known, lookups);
        }
    }

    public Attributes getattr(long inode) throws ErrnoException {
        Standing passedThrough = files.passedThrough(inode);
        Standing standing = passedThrough != null ? passedThrough : places.standing(inode);
        return show(inode, standing);
    }

    /** {@link #getattr} if the answer is known: null if it is not. */
    public @Nullable Attributes getattrNow(long inode) throws ErrnoException {
        Standing passedThrough = files.passedThrough(inode);
        Standing standing = passedThrough != null ? passedThrough : places.standingNow(inode);
        return standing == null ? null : show(inode, standing);
    }

    /**
     * @param mask R_OK 4, W_OK 2, X_OK 1, or F_OK 0: access(2)
     * @throws ErrnoException EACCES, EROFS
     */
    public void access(long inode, int mask, int uid, int gid) throws ErrnoException {
        view.checkAccess(node(inode), mask, uid, gid);
    }

    /**
     * @return the directory handle for {@link #readdir}
     * @throws ErrnoException ENOTDIR
     */
    public OpenFile opendir(long inode) throws ErrnoException {
        Directory directory = places.directory(inode);
        Inode known = places.inode(inode);
        places.node(inode);
        Listing listing = tree.list(directory);
        String edition = listing.edition();
        inodes.acquire(known);
        PageCachePolicy policy = kernelListings.openListing(inode, edition);
        boolean cached = policy != PageCachePolicy.BYPASS;
        return new OpenFile(handles.add(new OpenDirectory(known, directory, listing, edition, cached)), policy);
    }

    /**
     * Hands entries, {@code .} and {@code ..} first, to the sink, from the offset (0 is the start) until it is full, or
     * as many as there are without waiting for more. Offsets hold until the handle is read from 0 again. The inode
     * numbers of entries that nobody has looked up are {@link #UNKNOWN_INODE}.
     *
     * @throws ErrnoException EBADF, EINVAL
     */
    public void readdir(long handle, long offset, DirectorySink sink) throws ErrnoException {
        reader.read(handles.directory(handle), offset, sink, false);
    }

    /** {@link #readdir} that looks up each entry that the sink takes, but for {@code .} and {@code ..}. */
    public void readdirplus(long handle, long offset, DirectorySink sink) throws ErrnoException {
        reader.read(handles.directory(handle), offset, sink, true);
    }

    public void releasedir(long handle) {
        release(handle);
    }

    /**
     * Opens the version of the file that is known at this moment.
     *
     * @param flags open(2)'s flags as the kernel sends them
     * @throws ErrnoException EISDIR, and EROFS if it is to be written, truncated or created
     */
    public OpenFile open(long inode, int flags) throws ErrnoException {
        return open(inode, flags, null);
    }

    /**
     * {@link #open(long, int)}, and hands the cache's file to the kernel if all of the object is in it.
     *
     * @param kernel null if it reads nothing by itself
     * @throws ErrnoException ESTALE too, if another version is passed through under this inode: its name has another
     *     inode now
     */
    public OpenFile open(long inode, int flags, @Nullable BackingFiles kernel) throws ErrnoException {
        OpenFiles.checkReads(flags);
        return files.open(places.inode(inode), places.node(inode), kernel);
    }

    /** {@link #open(long, int, BackingFiles)} if nothing has to be waited for, not for the disk either: null if it has. */
    public @Nullable OpenFile openNow(long inode, int flags, @Nullable BackingFiles kernel) throws ErrnoException {
        OpenFiles.checkReads(flags);
        Standing known = places.standingNow(inode);
        return known == null ? null : files.openNow(places.inode(inode), known.node(), kernel);
    }

    /** {@link #read(long, long, ByteBuffer, LentBytes)}, all of it into the buffer. */
    public int read(long handle, long position, ByteBuffer to) throws ErrnoException {
        return read(handle, position, to, null);
    }

    /**
     * Reads until the buffer is full or the file ends.
     *
     * @param loans if not null, many bytes at a time are lent rather than copied into the buffer. The caller gives them
     *     back, also after an exception
     * @return bytes read, 0 at the end of the file
     * @throws ErrnoException EBADF; ESTALE if the object changed since it was opened; EACCES if it is archived; EIO
     */
    public int read(long handle, long position, ByteBuffer to, @Nullable LentBytes loans) throws ErrnoException {
        OpenObject open = handles.object(handle);
        files.confirm(open);
        try {
            return open.reader().read(position, to, loans);
        } catch (ObjectStoreException e) {
            Directory parent = open.inode().parent();
            if (isStale(e) && parent != null) {
                tree.invalidate(parent, open.inode().name(), open.version());
                news.isStale(open.inode(), open.version(), e instanceof ObjectStoreException.NotFound);
            }
            throw Errnos.of(e);
        } catch (InterruptedException e) {
            throw Errnos.interrupted(e);
        }
    }

    /** {@link #read} if all of it is in memory: {@link #WOULD_WAIT} if not. */
    public int readNow(long handle, long position, ByteBuffer to, @Nullable LentBytes loans) throws ErrnoException {
        OpenObject open = handles.object(handle);
        files.confirm(open);
        return open.reader().readNow(position, to, loans);
    }

    /** Closes a handle; one that is not open is ignored. */
    public void release(long handle) {
        OpenHandle open = handles.remove(handle);
        if (open == null) {
            return;
        }
        switch (open) {
            case OpenObject object -> files.close(object);
            case OpenDirectory directory -> {
                if (directory.isCached()) {
                    kernelListings.close(directory.inode().number());
                }
            }
        }
        inodes.release(open.inode(), 1);
    }

    /**
     * The inode that a handle is of.
     *
     * @throws ErrnoException EBADF
     */
    public long inodeOf(long handle) throws ErrnoException {
        return handles.get(handle).inode().number();
    }

    /**
     * lseek(2) to data or to a hole: an object is data from its first byte to its last.
     *
     * @param whence SEEK_DATA 3 or SEEK_HOLE 4
     * @throws ErrnoException EBADF, EINVAL; ENXIO beyond the end
     */
    public long lseek(long handle, long offset, int whence) throws ErrnoException {
        long size = handles.object(handle).version().size();
        if (whence != SEEK_DATA && whence != SEEK_HOLE) {
            throw new ErrnoException(Errno.EINVAL, "no such whence: " + whence);
        }
        if (offset < 0 || offset >= size) {
            throw new ErrnoException(Errno.ENXIO, "offset %d of a file of %d bytes".formatted(offset, size));
        }
        return whence == SEEK_DATA ? offset : size;
    }

    /**
     * Called at each close(2): several times for a handle whose descriptor was duplicated.
     *
     * @param lockOwner the kernel's name for who closes it
     * @throws ErrnoException EBADF
     */
    public void flush(long handle, long lockOwner) throws ErrnoException {
        handles.object(handle);
    }

    /**
     * @param dataOnly fdatasync(2)
     * @throws ErrnoException EBADF
     */
    public void fsync(long handle, boolean dataOnly) throws ErrnoException {
        handles.object(handle);
    }

    /** {@link #fsync} of a directory. */
    public void fsyncdir(long handle, boolean dataOnly) throws ErrnoException {
        handles.directory(handle);
    }

    public Statfs statfs() {
        return STATFS;
    }

    /** @throws ErrnoException ENODATA if the file has no such attribute */
    public byte[] getxattr(long inode, String name) throws ErrnoException {
        return AttributeView.xattr(node(inode), name);
    }

    public List<String> listxattr(long inode) throws ErrnoException {
        return AttributeView.xattrNames(node(inode));
    }

    // What would change something. One answer for all until there is a write path; bindings decide nothing themselves.

    /** @param mode permission bits of the new file */
    public CreatedFile create(long parent, String name, int mode, int flags) throws ErrnoException {
        throw Errnos.readOnly();
    }

    public Attributes mknod(long parent, String name, int mode) throws ErrnoException {
        throw Errnos.readOnly();
    }

    public Attributes mkdir(long parent, String name, int mode) throws ErrnoException {
        throw Errnos.readOnly();
    }

    public void unlink(long parent, String name) throws ErrnoException {
        throw Errnos.readOnly();
    }

    public void rmdir(long parent, String name) throws ErrnoException {
        throw Errnos.readOnly();
    }

    /** @param flags renameat2(2)'s */
    public void rename(long parent, String name, long newParent, String newName, int flags) throws ErrnoException {
        throw Errnos.readOnly();
    }

    public Attributes link(long inode, long newParent, String newName) throws ErrnoException {
        throw Errnos.readOnly();
    }

    public Attributes symlink(String target, long parent, String name) throws ErrnoException {
        throw Errnos.readOnly();
    }

    /** @throws ErrnoException EINVAL: nothing is a symbolic link */
    public String readlink(long inode) throws ErrnoException {
        throw new ErrnoException(Errno.EINVAL, "inode " + inode + " is not a symbolic link");
    }

    /** @param handle through which it is asked, as by ftruncate(2); null if by name */
    public Attributes setattr(long inode, @Nullable Long handle, AttributeChange change) throws ErrnoException {
        throw Errnos.readOnly();
    }

    /** @param flags setxattr(2)'s */
    public void setxattr(long inode, String name, byte[] value, int flags) throws ErrnoException {
        throw Errnos.readOnly();
    }

    public void removexattr(long inode, String name) throws ErrnoException {
        throw Errnos.readOnly();
    }

    /** @return bytes written: all that the buffer held */
    public int write(long handle, long position, ByteBuffer from) throws ErrnoException {
        throw Errnos.readOnly();
    }

    /**
     * copy_file_range(2): positions and length are in bytes.
     *
     * @return bytes copied; fewer than asked for is no error
     */
    public long copyFileRange(long from, long fromPosition, long to, long toPosition, long length)
            throws ErrnoException {
        throw Errnos.readOnly();
    }

    /** @param mode fallocate(2)'s */
    public void fallocate(long handle, int mode, long offset, long length) throws ErrnoException {
        throw Errnos.readOnly();
    }

    /** Closes what is still open. */
    @Override
    public void close() {
        handles.numbers().forEach(this::release);
    }

    /** For leak checks. */
    public int openHandles() {
        return handles.size();
    }

    /** For leak checks: files of the cache that the kernel reads by itself. */
    public int backingFiles() {
        return files.backingFiles();
    }

    /** For leak checks: the root not counted. */
    public int inodesInUse() {
        return inodes.size();
    }

    private Attributes acquire(Directory parent, String name, Believed believed) throws ErrnoException {
        return switch (believed.answer()) {
            case Absent _ -> throw new AbsentException(parent.key(name), believed.nanos());
            case Node node -> view.of(files.acquire(parent, name, node).number(), node, believed.nanos());
        };
    }

    private Attributes show(long inode, Standing standing) {
        inodes.show(inode, standing.node());
        return view.of(inode, standing.node(), standing.validNanos());
    }

    /** What the inode shows: the version that the kernel reads by itself under it, else what its place stands for now. */
    private Node node(long inode) throws ErrnoException {
        Standing passedThrough = files.passedThrough(inode);
        return passedThrough != null ? passedThrough.node() : places.node(inode);
    }

    private static boolean isStale(ObjectStoreException e) {
        return e instanceof ObjectStoreException.NotFound || e instanceof ObjectStoreException.PreconditionFailed;
    }
}

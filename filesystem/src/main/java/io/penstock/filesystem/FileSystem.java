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
import io.penstock.metadata.Names;
import io.penstock.metadata.Node;
import io.penstock.metadata.Tree;
import io.penstock.metadata.Tree.Believed;
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

    private final AttributeView view;
    private final InodeTable inodes;
    private final SharedFiles shared;
    private final Places places;
    private final DirectoryReader reader;
    private final HandleTable handles = new HandleTable();
    private final OpenFiles files;
    private final KernelPages kernelListings = new KernelPages();
    private final KernelNews news;

    /** Null if the mount is read-only. */
    private final @Nullable Changes changes;

    private record Changes(NameChanges names, FileChanges files) {}

    /**
     * A read-only one. Tree and fetcher stay the caller's, to be closed after this.
     *
     * @param mountTime what directories show as their time
     */
    public FileSystem(Tree tree, PageFetcher fetcher, FileSystemConfig config, Instant mountTime) {
        this(tree, fetcher, config, mountTime, null);
    }

    /**
     * One that can be written, if {@code writing} says with what.
     *
     * @param mountTime what directories show as their time
     */
    public FileSystem(
            Tree tree, PageFetcher fetcher, FileSystemConfig config, Instant mountTime, @Nullable Writing writing) {
        this.inodes = new InodeTable(tree.root());
        this.shared = new SharedFiles(tree, inodes, fetcher);
        this.view = new AttributeView(config, mountTime, shared.times(), writing == null);
        this.places = new Places(tree, inodes, shared);
        this.news = new KernelNews(inodes, shared.kernelPages());
        this.files = new OpenFiles(places, shared, inodes, handles, news, config.passthrough());
        this.reader = new DirectoryReader(tree, inodes, files, view, kernelListings);
        tree.tell(news::heard);
        this.changes = writing == null ? null : changes(writing);
    }

    private Changes changes(Writing writing) {
        NameChanges names = new NameChanges(writing.store(), inodes, places, shared);
        writing.writeback().recovered().forEach(shared::recover);
        writing.writeback().start(shared);
        return new Changes(names, new FileChanges(writing, inodes, places, shared, files, names));
    }

    private Changes changes() throws ErrnoException {
        if (changes == null) {
            throw Errnos.readOnly();
        }
        return changes;
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
        OpenDirectory.View shown = reader.view(directory);
        inodes.acquire(known);
        PageCachePolicy policy = kernelListings.openListing(inode, shown.edition());
        boolean cached = policy != PageCachePolicy.BYPASS;
        return new OpenFile(handles.add(new OpenDirectory(known, directory, shown, cached)), policy);
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
     * Opens the file as it is known at this moment.
     *
     * @param flags open(2)'s flags as the kernel sends them
     * @throws ErrnoException EISDIR, and EROFS if it is to be written, truncated or created in a read-only mount
     */
    public OpenFile open(long inode, int flags) throws ErrnoException {
        return open(inode, flags, null);
    }

    /**
     * {@link #open(long, int)}, and hands the cache's file to the kernel if all of the object is in it and it is to be
     * read only.
     *
     * @param kernel null if it reads nothing by itself
     * @throws ErrnoException ESTALE too, if another version is passed through under this inode, or any that is to be
     *     changed: its name has another inode now
     */
    public OpenFile open(long inode, int flags, @Nullable BackingFiles kernel) throws ErrnoException {
        if (!OpenFlags.isChange(flags)) {
            return files.open(inode, flags, kernel);
        }
        FileChanges made = changes().files();
        files.checkChangeable(inode);
        return files.add(made.open(inode, flags), flags);
    }

    /** {@link #open(long, int, BackingFiles)} if nothing has to be waited for, not for the disk either: null if it has. */
    public @Nullable OpenFile openNow(long inode, int flags, @Nullable BackingFiles kernel) throws ErrnoException {
        return OpenFlags.isChange(flags) ? null : files.openNow(inode, flags, kernel);
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
        return files.read(handle, position, to, loans);
    }

    /** {@link #read} if all of it is in memory: {@link #WOULD_WAIT} if not. */
    public int readNow(long handle, long position, ByteBuffer to, @Nullable LentBytes loans) throws ErrnoException {
        return files.readNow(handle, position, to, loans);
    }

    /** Closes a handle; one that is not open is ignored. Never waits: what is left to do is done behind. */
    public void release(long handle) {
        OpenHandle open = handles.remove(handle);
        switch (open) {
            case OpenObject object -> files.close(object);
            case OpenDirectory directory -> {
                if (directory.isCached()) {
                    kernelListings.close(directory.inode().number());
                }
                inodes.release(directory.inode(), 1);
            }
            case null -> {}
        }
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
     * lseek(2) to data or to a hole. What the store has is data from its first byte to its last.
     *
     * @param whence SEEK_DATA 3 or SEEK_HOLE 4
     * @throws ErrnoException EBADF, EINVAL; ENXIO beyond the end
     */
    public long lseek(long handle, long offset, int whence) throws ErrnoException {
        SharedFile file = handles.object(handle).file();
        if (whence != SEEK_DATA && whence != SEEK_HOLE) {
            throw new ErrnoException(Errno.EINVAL, "no such whence: " + whence);
        }
        long found = offset < 0 ? -1 : file.seek(offset, whence == SEEK_HOLE);
        if (found < 0) {
            throw new ErrnoException(Errno.ENXIO, "offset %d of a file of %d bytes".formatted(offset, file.size()));
        }
        return found;
    }

    /**
     * Called at each close(2): several times for a handle whose descriptor was duplicated. The last of those who write
     * the file has it committed, and waits for that as the settings have it.
     *
     * @param lockOwner the kernel's name for who closes it
     * @throws ErrnoException EBADF; ESTALE if somebody else has changed the object since it was opened; EIO, EACCES
     */
    public void flush(long handle, long lockOwner) throws ErrnoException {
        OpenObject open = handles.object(handle);
        if (open.isWritable()) {
            changes().files().flush(open);
        }
    }

    /**
     * Returns once what is written would survive a crash of this machine.
     *
     * @param dataOnly fdatasync(2)
     * @throws ErrnoException EBADF, and as {@link #flush}
     */
    public void fsync(long handle, boolean dataOnly) throws ErrnoException {
        OpenObject open = handles.object(handle);
        if (changes != null) {
            changes.files().fsync(open);
        }
    }

    /** {@link #fsync} of a directory: its names are in the store already, but for those of files that are written. */
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

    // What changes something. All of it throws EROFS if the mount is read-only.

    /**
     * A new file, looked up and open.
     *
     * @param mode permission bits of the new file, which are not kept
     * @throws ErrnoException EEXIST if there is one and the flags have O_EXCL; EISDIR, ENAMETOOLONG
     */
    public CreatedFile create(long parent, String name, int mode, int flags) throws ErrnoException {
        SharedFile file = changes().files().create(parent, name, flags);
        Attributes attributes = view.of(file.inode().number(), file, Long.MAX_VALUE);
        return new CreatedFile(attributes, files.add(file, flags));
    }

    /**
     * A new file, looked up.
     *
     * @param mode of the new file: EPERM if that is anything but a regular file
     */
    public Attributes mknod(long parent, String name, int mode) throws ErrnoException {
        FileChanges made = changes().files();
        int type = mode & Attributes.S_IFMT;
        if (type != 0 && type != Attributes.S_IFREG) {
            throw new ErrnoException(Errno.EPERM, "a bucket holds files and directories only");
        }
        SharedFile file = made.mknod(parent, name);
        return view.of(file.inode().number(), file, 0);
    }

    /** A new directory, looked up: EEXIST if there is anything of this name. */
    public Attributes mkdir(long parent, String name, int mode) throws ErrnoException {
        Directory made = changes().names().mkdir(parent, name);
        Inode inode = inodes.acquire(places.directory(parent), name, made);
        return view.of(inode.number(), made, 0);
    }

    /** @throws ErrnoException ENOENT, EISDIR */
    public void unlink(long parent, String name) throws ErrnoException {
        changes().names().unlink(parent, name);
    }

    /** @throws ErrnoException ENOENT, ENOTDIR, ENOTEMPTY */
    public void rmdir(long parent, String name) throws ErrnoException {
        changes().names().rmdir(parent, name);
    }

    /**
     * Moves a file, in place of one that has the new name: its open handles go on.
     *
     * @param flags renameat2(2)'s: RENAME_NOREPLACE 1, or none
     * @throws ErrnoException ENOENT, EEXIST, EISDIR, EINVAL for other flags, EXDEV for directories
     */
    public void rename(long parent, String name, long newParent, String newName, int flags) throws ErrnoException {
        changes().names().rename(parent, name, newParent, newName, flags);
    }

    /** @throws ErrnoException EPERM: there are no hard links */
    public Attributes link(long inode, long newParent, String newName) throws ErrnoException {
        Changes _ = changes();
        throw new ErrnoException(Errno.EPERM, "a bucket has no hard links");
    }

    /** @throws ErrnoException EPERM: there are no symbolic links yet */
    public Attributes symlink(String target, long parent, String name) throws ErrnoException {
        Changes _ = changes();
        throw new ErrnoException(Errno.EPERM, "a bucket has no symbolic links");
    }

    /** @throws ErrnoException EINVAL: nothing is a symbolic link */
    public String readlink(long inode) throws ErrnoException {
        throw new ErrnoException(Errno.EINVAL, "inode " + inode + " is not a symbolic link");
    }

    /**
     * Changes size and modification time; what else is asked for is accepted and has no effect.
     *
     * @param handle through which it is asked, as by ftruncate(2); null if by name
     * @throws ErrnoException EISDIR, EINVAL, EFBIG; EBADF if the handle is not open for writing
     */
    public Attributes setattr(long inode, @Nullable Long handle, AttributeChange change) throws ErrnoException {
        FileChanges made = changes().files();
        OpenObject open = handle == null ? null : handles.object(handle);
        Long size = change.size();
        if (size != null) {
            files.checkChangeable(inode);
            made.truncate(inode, open, size);
        }
        Node node = open == null ? places.node(inode) : open.file();
        Instant modified = change.modified();
        if (modified != null) {
            made.touch(node, modified);
        }
        return view.of(inode, node, 0);
    }

    /** @throws ErrnoException EOPNOTSUPP */
    public void setxattr(long inode, String name, byte[] value, int flags) throws ErrnoException {
        Changes _ = changes();
        throw new ErrnoException(Errno.EOPNOTSUPP, "attributes cannot be changed");
    }

    /** @throws ErrnoException EOPNOTSUPP */
    public void removexattr(long inode, String name) throws ErrnoException {
        Changes _ = changes();
        throw new ErrnoException(Errno.EOPNOTSUPP, "attributes cannot be changed");
    }

    /**
     * Writes at the position, or at the end if the handle was opened with O_APPEND.
     *
     * @return bytes written: all that the buffer held
     * @throws ErrnoException EBADF, EFBIG, EIO
     */
    public int write(long handle, long position, ByteBuffer from) throws ErrnoException {
        return changes().files().write(handles.object(handle), position, from, true);
    }

    /** {@link #write} of what was changed in memory that is mapped: at its position, whatever the handle's flags. */
    public int writePages(long handle, long position, ByteBuffer from) throws ErrnoException {
        return changes().files().write(handles.object(handle), position, from, false);
    }

    /**
     * copy_file_range(2): positions and length are in bytes.
     *
     * @return bytes copied; fewer than asked for is no error
     */
    public long copyFileRange(long from, long fromPosition, long to, long toPosition, long length)
            throws ErrnoException {
        FileChanges made = changes().files();
        SharedFile source = handles.object(from).file();
        return made.copy(source, fromPosition, handles.object(to), toPosition, length);
    }

    /**
     * @param mode fallocate(2)'s: 0, KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE
     * @throws ErrnoException EBADF, EINVAL, EFBIG; EOPNOTSUPP for other modes
     */
    public void fallocate(long handle, int mode, long offset, long length) throws ErrnoException {
        changes().files().fallocate(handles.object(handle), mode, offset, length);
    }

    /** Closes what is still open. */
    @Override
    public void close() {
        handles.numbers().forEach(this::release);
        shared.close();
    }

    /** For tests: waits for what is done after a call has returned. */
    void awaitBehind() throws InterruptedException {
        shared.awaitBehind();
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
}

package io.penstock.filesystem;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.LentBytes;
import io.penstock.core.NoWait;
import io.penstock.filesystem.OpenHandle.LostFile;
import io.penstock.filesystem.OpenHandle.OpenDirectory;
import io.penstock.filesystem.OpenHandle.OpenObject;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.kernel.BackingFiles;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.filesystem.kernel.Inherited;
import io.penstock.filesystem.kernel.KernelCache;
import io.penstock.filesystem.kernel.KernelView;
import io.penstock.filesystem.kernel.Kernels;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.filesystem.names.ColdNames;
import io.penstock.filesystem.names.Exclusive;
import io.penstock.filesystem.names.InterruptedRenames;
import io.penstock.filesystem.names.Links;
import io.penstock.filesystem.names.MovingDirectories;
import io.penstock.filesystem.names.NameChanges;
import io.penstock.filesystem.names.NamedInodes;
import io.penstock.filesystem.names.NoEntryException;
import io.penstock.filesystem.names.NodeResolver;
import io.penstock.filesystem.names.RunningRename;
import io.penstock.filesystem.names.Writing;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Tree;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.prefetch.PageFetcher;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One mounted bucket as a POSIX file system, by inode and handle. It has one method, with its contract, for each call
 * of the kernel. Calls may wait for the store, so make them on threads that may wait; calls whose name ends in
 * {@code Now}, or without {@code mayWait}, never do. Thread-safe; all reads are positional. An interrupt ends a waiting
 * call with EINTR and leaves the thread's interrupt flag set.
 *
 * <p>{@code lookup} increments an inode's lookup count, and {@code forget} reduces it. The inode's number is valid
 * while the count is above zero or the inode is open. The root is always valid. An inode whose name is gone, or refers
 * to something of another kind, fails with ESTALE: the kernel then looks the path up again.
 *
 * <p>Any call that sends a request to the store may throw EACCES (the store denies it), EIO (it fails) or ESTALE (the
 * bucket is gone), as mapped by {@link Errnos}.
 */
public final class FileSystem implements AutoCloseable {
    /** The root directory's inode. */
    public static final long ROOT = InodeTable.ROOT;

    /** The inode number of an entry that has none yet: FUSE_UNKNOWN_INO of libfuse's lib/fuse.c. */
    public static final long UNKNOWN_INODE = Directories.UNKNOWN_INODE;

    private final Tree tree;
    private final InodeTable inodes;
    private final HandleTable handles = new HandleTable();
    private final SharedFiles shared;
    private final Lookups lookups;
    private final Directories directories;
    private final OpenFiles files;
    private final Kernels kernels;

    /** Null if the mount is read-only. */
    private final @Nullable Changes changes;

    /** Null if the mount is read-only, and once this is taken over. */
    private @Nullable EarlierRuns earlier;

    /** The parts that only a writable mount has. */
    private record Changes(
            NameChanges names,
            NewFiles newFiles,
            FileChanges contents,
            OpenFileWrites writes,
            AttributeChanges attributes) {}

    /**
     * The caller owns tree, fetcher and attributes, and closes them after this.
     *
     * @param kept the attributes that objects keep
     * @param mountTime the time shown for directories
     * @param writing the write path; null for a read-only mount
     */
    public FileSystem(
            Tree tree,
            PageFetcher fetcher,
            KeptAttributes kept,
            FileSystemConfig config,
            Instant mountTime,
            @Nullable Writing writing) {
        this.tree = tree;
        this.inodes = new InodeTable(tree.root());
        this.kernels = new Kernels(inodes);
        KernelView kernel = new KernelView(inodes, kernels, config.kernelKeepsSizes());
        this.shared = new SharedFiles(tree, inodes, fetcher, kernel, kept);
        NodeResolver resolver = new NodeResolver(tree, inodes, shared, writing != null && writing.worksOffline());
        RecentLinks links = new RecentLinks(resolver);
        AttributeView view = new AttributeView(config, mountTime, shared.times(), kept, links, writing == null);
        ColdNames coldNames = new ColdNames(inodes, shared, kernels, config.mostNames());
        NamedInodes named = new NamedInodes(inodes, shared, coldNames);
        this.files = new OpenFiles(resolver, shared, named, handles, config);
        this.lookups = new Lookups(resolver, inodes, named, kernel, view, new ObjectFacts(fetcher));
        this.directories = new Directories(resolver, tree, inodes, handles, named, view, kernel);
        tree.setListener(kernel::onStoreResponse);
        if (writing == null) {
            this.changes = null;
            return;
        }
        MovingDirectories moving = new MovingDirectories();
        NameChanges names = new NameChanges(writing, inodes, resolver, shared, kernels, moving);
        OpenFileWrites writes = new OpenFileWrites(writing, kept, lookups);
        FileChanges contents = new FileChanges(writing, resolver, shared, named, files, moving, writes, links);
        this.changes = new Changes(
                names,
                new NewFiles(
                        writing, inodes, resolver, shared, named, files, names, moving, kernels, lookups, view, links),
                contents,
                writes,
                new AttributeChanges(writing, resolver, shared, lookups, contents, view, moving, links));
        EarlierRuns runs = new EarlierRuns(writing, shared, new InterruptedRenames(writing, inodes, shared, moving));
        if (writing.isContinued()) {
            this.earlier = runs;
        } else {
            runs.endChangesOfNames();
            runs.recover();
            runs.start();
        }
    }

    /** Entry point of every modifying call: EROFS on a read-only mount. */
    private Changes changes() throws ErrnoException {
        if (changes == null) {
            throw Errnos.readOnly();
        }
        tree.beginChange();
        return changes;
    }

    /**
     * Continues with the inodes and handles that an earlier process of this mount gave to the kernel. Called before any
     * other call.
     *
     * @param kernel null if it reads nothing directly
     * @throws ErrnoException if what is inherited contradicts itself
     */
    public void inherit(Inherited inherited, @Nullable BackingFiles kernel) throws ErrnoException {
        EarlierRuns runs = earlier;
        earlier = null;
        if (runs != null) {
            runs.endChangesOfNames();
        }
        InheritedPlaces places = new InheritedPlaces(inherited.nodes(), tree.root());
        for (Inherited.Node node : inherited.nodes()) {
            if (node.lookups() > 0) {
                Place place = new Place(places.parent(node), node.name());
                Inode inode = inodes.inherit(node.number(), place, node.hasName(), node.isDirectory(), node.lookups());
                if (!node.isDirectory()) {
                    shared.kernel().inherited(inode);
                }
            }
        }
        inodes.startAfter(inherited.lastNode());
        handles.startAfter(inherited.lastHandle());
        if (runs != null) {
            runs.moveInodes();
            inherited.nodes().forEach(this::keep);
            runs.recover();
        }
        for (Inherited.File file : inherited.files()) {
            files.inherit(file, kernel);
        }
        for (Inherited.Directory directory : inherited.directories()) {
            directories.inherit(directory);
        }
        if (runs != null) {
            runs.start();
        }
    }

    /** Its last file may have been removed here: the kernel knows the directory all the same. */
    private void keep(Inherited.Node node) {
        Inode inode = inodes.get(node.number());
        Directory directory = inode == null || inode.place() == null ? null : inode.directory();
        if (directory != null) {
            tree.keep(directory);
        }
    }

    /** An open file as the mount's next process must know it. EBADF if it is none. */
    public Inherited.File openFile(long handle) throws ErrnoException {
        return files.inheritable(handle);
    }

    /** The same for all open files of this name, and of names below it. */
    public List<Inherited.File> openFiles(long parent, String name) throws ErrnoException {
        return files.inheritable(parent, name);
    }

    /** Whether the kernel reads the cache's file of this object directly now. */
    public boolean isPassedThrough(Directory parent, String name) {
        Inode inode = inodes.find(parent, name);
        return inode != null && shared.kernel().isPassedThrough(inode);
    }

    /**
     * From now on notifies a kernel when data that it was shown turns out to be wrong before it expires.
     *
     * @return ends the notifications
     */
    public Runnable addListener(KernelCache kernel) {
        return kernels.add(kernel);
    }

    /** @throws ErrnoException ENOENT as {@link NoEntryException}, ENOTDIR, ENAMETOOLONG */
    public Attributes lookup(long parent, String name) throws ErrnoException {
        return lookups.lookup(parent, name);
    }

    /** {@link #lookup} if the answer is known: null if it is not. */
    public @Nullable Attributes lookupNow(long parent, String name) throws ErrnoException {
        return lookups.lookupNow(parent, name);
    }

    /** Subtracts {@code lookups} from the inode's lookup count. */
    public void forget(long inode, long lookups) {
        this.lookups.forget(inode, lookups);
    }

    public Attributes getattr(long inode) throws ErrnoException {
        return lookups.attributes(inode);
    }

    /** {@link #getattr} if the answer is known: null if it is not. */
    public @Nullable Attributes getattrNow(long inode) throws ErrnoException {
        return lookups.attributesNow(inode);
    }

    /**
     * @param mask R_OK 4, W_OK 2, X_OK 1, or F_OK 0: access(2)
     * @throws ErrnoException EACCES, EROFS
     */
    public void access(long inode, int mask, int uid, int gid) throws ErrnoException {
        lookups.checkAccess(inode, mask, uid, gid);
    }

    /** Opens a directory for {@link #readdir}: ENOTDIR if it is not a directory. */
    public OpenFile opendir(long inode) throws ErrnoException {
        return directories.open(inode);
    }

    /** {@link #opendir} if the directory is known: null if it is not. */
    public @Nullable OpenFile opendirNow(long inode) throws ErrnoException {
        return directories.openNow(inode);
    }

    /**
     * Passes entries to the sink, {@code .} and {@code ..} first, from the offset (0 is the start) until it is full, or
     * as many as there are without waiting for more. Offsets are valid until the handle is read from 0 again. Entries
     * that were not looked up have the inode number {@link #UNKNOWN_INODE}.
     *
     * @throws ErrnoException EBADF, EINVAL
     */
    public void readdir(long handle, long offset, DirectorySink sink) throws ErrnoException {
        directories.read(handle, offset, sink, false);
    }

    /**
     * {@link #readdir} that looks up each entry that the sink takes, except {@code .} and {@code ..}, and entries whose
     * attributes the store does not provide: these have no inode number.
     */
    public void readdirplus(long handle, long offset, DirectorySink sink) throws ErrnoException {
        directories.read(handle, offset, sink, true);
    }

    public void releasedir(long handle) {
        release(handle);
    }

    /** {@link #open(long, int, BackingFiles)} for a kernel that reads nothing directly. */
    public OpenFile open(long inode, int flags) throws ErrnoException {
        return open(inode, flags, null);
    }

    /**
     * Opens the file as it is known now, or, for the first open for writing, as the store has it. If it is opened only
     * for reading, and the cache's file has all of the object, passes that file to the kernel.
     *
     * @param flags open(2)'s flags as the kernel sends them
     * @param kernel null if it reads nothing directly
     * @throws ErrnoException EISDIR; EROFS if it would be written, truncated or created on a read-only mount; ESTALE if
     *     the name must be looked up again: the store has another version or none, or the inode is passed through
     */
    public OpenFile open(long inode, int flags, @Nullable BackingFiles kernel) throws ErrnoException {
        return OpenFlags.isChange(flags) ? changes().contents().open(inode, flags) : files.open(inode, flags, kernel);
    }

    /** {@link #open(long, int, BackingFiles)} if it need not wait, not even for the disk: null if it must. */
    public @Nullable OpenFile openNow(long inode, int flags, @Nullable BackingFiles kernel) throws ErrnoException {
        return OpenFlags.isChange(flags) ? null : files.openNow(inode, flags, kernel);
    }

    /**
     * Reads until the buffer is full or the file ends.
     *
     * @param loans if not null, large reads lend bytes instead of copying them into the buffer. The caller gives them
     *     back, also after an exception
     * @param mayWait if not, reads only what is in memory
     * @return bytes read, 0 at the end of the file; or {@link NoWait#WOULD_WAIT}
     * @throws ErrnoException EBADF; ESTALE if the object changed since it was opened; EACCES if it is archived; EIO
     */
    public int read(long handle, long position, ByteBuffer to, @Nullable LentBytes loans, boolean mayWait)
            throws ErrnoException {
        OpenObject open = handles.object(handle);
        if (open.isCached() && open.firstRead()) {
            shared.kernel().read(open.inode());
        }
        try { // not Errnos.call(), whose argument and result would be new objects
            return open.file().content().read(position, to, loans, mayWait);
        } catch (ObjectStoreException | IOException | InterruptedException e) {
            files.readFailed(open.file(), e);
            throw Errnos.of(e);
        }
    }

    /** Closes a handle; ignored if it is not open. Never waits: the rest runs in the background. */
    public void release(long handle) {
        switch (handles.remove(handle)) {
            case OpenObject object -> files.close(object);
            case OpenDirectory directory -> directories.close(directory);
            case LostFile _ -> {}
            case null -> {}
        }
    }

    /**
     * The inode's path from the mount's root, for people: with a leading slash, and a trailing one for a directory.
     * Null if it no longer has a name.
     */
    public @Nullable String pathOf(long inode) {
        Inode found = inodes.get(inode);
        if (found == null) {
            return null;
        }
        int root = tree.root().prefix().length();
        Directory directory = found.directory();
        if (directory != null) {
            return "/" + directory.prefix().substring(root);
        }
        Place place = found.place();
        return place == null ? null : "/" + place.key().substring(root);
    }

    /** The inode of a handle: EBADF if it is not open. */
    public long inodeOf(long handle) throws ErrnoException {
        return handles.get(handle).inode().number();
    }

    /**
     * lseek(2) to data or to a hole. A file in the store is data from its first byte to its last.
     *
     * @param whence SEEK_DATA 3 or SEEK_HOLE 4
     * @throws ErrnoException EBADF, EINVAL; ENXIO beyond the end
     */
    public long lseek(long handle, long offset, int whence) throws ErrnoException {
        return files.seek(handle, offset, whence);
    }

    /** {@link #flush(long, BooleanSupplier)} where no other descriptors are known. */
    public void flush(long handle) throws ErrnoException {
        flush(handle, () -> false);
    }

    /**
     * Called at each close(2): several times for a handle whose descriptor was duplicated. The last handle for writing
     * commits the file, and waits for the commit as configured.
     *
     * @param isStillOpen whether a process is known to still have it open for writing, so that another close follows;
     *     called only where a premature commit would be expensive
     * @throws ErrnoException EBADF; ESTALE if another client has changed the object since it was opened; EIO, EACCES
     */
    public void flush(long handle, BooleanSupplier isStillOpen) throws ErrnoException {
        OpenObject open = handles.object(handle);
        if (open.opener().isWriter()) {
            changes().contents().flush(open, isStillOpen);
        }
    }

    /**
     * Returns once the written data would survive a crash of this machine.
     *
     * @throws ErrnoException EBADF, and as {@link #flush}
     */
    public void fsync(long handle) throws ErrnoException {
        OpenObject open = handles.object(handle);
        if (changes != null) {
            changes.contents().fsync(open);
        }
    }

    /**
     * {@link #fsync} of a directory. Its names are in the store already, except those of files being written, and of
     * files that were just removed in quick succession.
     *
     * @throws ErrnoException EIO if one of those could not be deleted
     */
    public void fsyncdir(long handle) throws ErrnoException {
        Directory directory = handles.directory(handle).inode().directory();
        if (changes != null && directory != null && !changes.names().awaitRemovals(directory)) {
            throw new ErrnoException(Errno.EIO, "some files of '" + directory.prefix() + "' could not be deleted");
        }
    }

    public Statfs statfs() {
        return Statfs.OF_A_BUCKET;
    }

    /** @throws ErrnoException ENODATA if the file has no such attribute, EOPNOTSUPP if none may: ACLs, capabilities */
    public byte[] getxattr(long inode, String name) throws ErrnoException {
        return lookups.xattr(inode, name);
    }

    /** {@link #getxattr} if the value is known: null if it is not. */
    public byte @Nullable [] getxattrNow(long inode, String name) throws ErrnoException {
        return lookups.xattrNow(inode, name);
    }

    public List<String> listxattr(long inode) throws ErrnoException {
        return lookups.xattrNames(inode);
    }

    /** {@link #listxattr} if the names are known: null if they are not. */
    public @Nullable List<String> listxattrNow(long inode) throws ErrnoException {
        return lookups.xattrNamesNow(inode);
    }

    // Modifying calls. All of them throw EROFS if the mount is read-only.

    /**
     * Creates a file, looks it up and opens it.
     *
     * @param mode permission bits of the new file
     * @throws ErrnoException EEXIST if it exists and the flags have O_EXCL, as {@link Exclusive} defines; ESTALE if it
     *     exists and they do not: the kernel then looks it up, and opens it if its mode allows; ENAMETOOLONG
     */
    public CreatedFile create(long parent, String name, int mode, Creator creator, int flags) throws ErrnoException {
        return changes().newFiles().create(parent, name, mode, creator, flags);
    }

    /**
     * Creates a file, FIFO, socket or device, and looks it up.
     *
     * @param mode type and permission bits
     * @param device st_rdev of a device; 0 for everything else
     * @throws ErrnoException EPERM for anything but regular files if attributes are not kept; EEXIST, EINVAL
     */
    public Attributes mknod(long parent, String name, int mode, int device, Creator creator) throws ErrnoException {
        return changes().newFiles().mknod(parent, name, mode, device, creator);
    }

    /** Creates a directory, and looks it up: EEXIST if this name exists. */
    public Attributes mkdir(long parent, String name, int mode, Creator creator) throws ErrnoException {
        return changes().newFiles().mkdir(parent, name, mode, creator);
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
     * Moves a file, replacing a file at the new name, or a directory, replacing an empty one. Handles stay valid.
     *
     * @param flags renameat2(2)'s: RENAME_NOREPLACE 1, or none
     * @throws ErrnoException ENOENT, EEXIST, EISDIR, ENOTDIR, ENOTEMPTY; EINVAL for other flags, or a directory moved
     *     into itself; EXDEV for a directory with more objects than {@link Writing#mostRenamed}
     */
    public void rename(long parent, String name, long newParent, String newName, int flags) throws ErrnoException {
        changes().names().rename(parent, name, newParent, newName, flags);
    }

    /**
     * Copies a file to a free name, and looks the copy up: {@link Links}.
     *
     * @throws ErrnoException EEXIST, also if another node was faster; EPERM for directories, and if links are refused
     */
    public Attributes link(long inode, long newParent, String newName) throws ErrnoException {
        return changes().newFiles().link(inode, newParent, newName);
    }

    /**
     * Creates a symbolic link, and looks it up.
     *
     * @throws ErrnoException EPERM if attributes are not kept; EEXIST; ENAMETOOLONG if metadata cannot hold the target
     */
    public Attributes symlink(String target, long parent, String name, Creator creator) throws ErrnoException {
        return changes().newFiles().symlink(target, parent, name, creator);
    }

    /** The target of a symbolic link: EINVAL if the inode is not one. */
    public String readlink(long inode) throws ErrnoException {
        return lookups.link(inode);
    }

    /**
     * Changes size, mode, owner and times. Where attributes are not kept, mode and owner are accepted without effect,
     * except a mode that gives others less than is shown, and times last until the unmount.
     *
     * @param handle of the request, as by ftruncate(2); null if it is by name
     * @throws ErrnoException EPERM for such a mode; EISDIR, EINVAL, EFBIG; EBADF if the handle is not open for writing
     */
    public Attributes setattr(long inode, @Nullable Long handle, AttributeChange change) throws ErrnoException {
        return changes().attributes().setattr(inode, handle == null ? null : handles.object(handle), change);
    }

    /**
     * @param flags setxattr(2)'s: XATTR_CREATE 1, XATTR_REPLACE 2
     * @throws ErrnoException EEXIST, ENODATA; EOPNOTSUPP for names that users may not set, and if attributes are not
     *     kept; ENOSPC if an object's metadata cannot hold it
     */
    public void setxattr(long inode, String name, byte[] value, int flags) throws ErrnoException {
        changes().attributes().setExtended(inode, name, value, flags);
    }

    /** @throws ErrnoException ENODATA; EOPNOTSUPP as {@link #setxattr} */
    public void removexattr(long inode, String name) throws ErrnoException {
        changes().attributes().setExtended(inode, name, null, AttributeChanges.XATTR_REPLACE);
    }

    /**
     * Writes at the position, or at the end with O_APPEND; with O_DSYNC, the data is as durable as after fsync(2).
     *
     * @param flags the open file's flags at this write, which may have changed since its open: fcntl(2), pwritev2(2)
     * @param pages whether these are pages written by the kernel: they go to their position, whatever the flags
     * @param mayWait if not, would wait unless there is memory for all of it; some bytes may be written then
     * @return bytes written: fewer than the buffer held if an interrupt or a refusal came after the first of them; or
     *     {@link NoWait#WOULD_WAIT}
     * @throws ErrnoException EBADF, EFBIG, EIO
     */
    public int write(long handle, long position, ByteBuffer from, int flags, boolean pages, boolean mayWait)
            throws ErrnoException {
        return changes().writes().write(handles.object(handle), position, from, flags, pages, mayWait);
    }

    /**
     * A program without CAP_FSETID writes to this file or has truncated it: clears the set-user-ID bit, and the
     * set-group-ID bit if the group may execute the file. Never waits.
     */
    public void dropSetIds(long handle) throws ErrnoException {
        changes().attributes().dropSetIds(handles.object(handle).file());
    }

    /**
     * copy_file_range(2): positions and length are in bytes.
     *
     * @return bytes copied; fewer than requested is no error
     */
    public long copyFileRange(long from, long fromPosition, long to, long toPosition, long length)
            throws ErrnoException {
        OpenFileWrites writes = changes().writes();
        return writes.copy(handles.object(from).file(), fromPosition, handles.object(to), toPosition, length);
    }

    /**
     * @param mode fallocate(2)'s: 0, KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE
     * @throws ErrnoException EBADF, EINVAL, EFBIG; EOPNOTSUPP for other modes
     */
    public void fallocate(long handle, int mode, long offset, long length) throws ErrnoException {
        changes().writes().fallocate(handles.object(handle), mode, offset, length);
    }

    /** Closes all open handles. */
    @Override
    public void close() {
        handles.numbers().forEach(this::release);
        shared.close();
    }

    /** For tests: waits for the tasks that calls have started. */
    void awaitBackgroundTasks() throws InterruptedException {
        shared.awaitBackgroundTasks();
    }

    /** For tests, while no call is running: throws if the open files are inconsistent. */
    void checkInvariants() {
        shared.checkInvariants();
    }

    /** The running renames of directories, sorted by their old names. */
    public List<RunningRename> runningRenames() {
        return changes == null ? List.of() : changes.names().runningRenames();
    }

    /** For leak checks. */
    public int openHandles() {
        return handles.size();
    }

    /** For leak checks: the number of cache files that the kernel reads directly. */
    public int backingFiles() {
        return shared.kernel().backingFiles();
    }

    /** For leak checks: not counting the root. */
    public int inodesInUse() {
        return inodes.size();
    }
}

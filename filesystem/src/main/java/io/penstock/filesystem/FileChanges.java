package io.penstock.filesystem;

import io.penstock.core.ByteRange;
import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.OpenHandle.OpenObject;
import io.penstock.filesystem.Openers.Opener;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Node;
import io.penstock.metadata.attributes.ObjectAttributes;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WritebackConfig;
import io.penstock.writeback.WrittenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Changes files: makes them, writes them, and has them committed. Safe for use by any number of threads. */
final class FileChanges {
    // fallocate(2)'s modes, from include/uapi/linux/falloc.h.
    private static final int FALLOC_FL_KEEP_SIZE = 1;
    private static final int FALLOC_FL_PUNCH_HOLE = 2;
    private static final int FALLOC_FL_ZERO_RANGE = 0x10;

    /** Bytes that are copied at a time where the store cannot do it. */
    private static final int COPY_BYTES = 1 << 20;

    /** Who has so many bytes copied and is not at the end yet will be back: the kernel takes up to 2 or 4 GiB a call. */
    private static final long ONE_OF_SEVERAL = 1L << 30;

    private final Writeback writeback;
    private final WritebackConfig config;
    private final Exclusive exclusive;
    private final InstantSource clock;
    private final InodeTable inodes;
    private final Places places;
    private final SharedFiles files;
    private final NamedInodes named;
    private final OpenFiles open;
    private final NameChanges names;
    private final MovingDirectories moving;

    FileChanges(
            Writing writing,
            InodeTable inodes,
            Places places,
            SharedFiles files,
            NamedInodes named,
            OpenFiles open,
            NameChanges names,
            MovingDirectories moving) {
        this.writeback = writing.writeback();
        this.config = writeback.config();
        this.exclusive = writing.exclusive();
        this.clock = writing.clock();
        this.inodes = inodes;
        this.places = places;
        this.files = files;
        this.named = named;
        this.open = open;
        this.names = names;
        this.moving = moving;
    }

    /** The new file, joined to write and its inode looked up; or the one that is there, unless {@code mustBeNew}. */
    SharedFile create(long parent, String name, int flags, ObjectAttributes attributes) throws ErrnoException {
        return moving.in(() -> List.of(places.directory(parent)), () -> createHere(parent, name, flags, attributes));
    }

    private SharedFile createHere(long parent, String name, int flags, ObjectAttributes attributes)
            throws ErrnoException {
        boolean mustBeNew = (flags & OpenFlags.O_EXCL) != 0;
        Directory directory = places.existingDirectory(parent);
        Places.checkNew(directory, name, "");
        Node node = places.find(directory, name);
        if (node != null) {
            if (mustBeNew) {
                throw new ErrnoException(Errno.EEXIST, "there is a '" + directory.key(name) + "' already");
            }
            Inode inode = named.acquire(directory, name, node);
            try {
                return openHere(inode.number(), flags);
            } catch (ErrnoException e) {
                inodes.release(inode, 1);
                throw e;
            }
        }
        names.awaitRemoval(directory, name);
        named.makeRoom(directory, name);
        boolean byStore = mustBeNew && exclusive == Exclusive.STORE;
        WrittenFile content = byStore
                ? writeback.open(names.makeFile(directory, name, clock.instant()))
                : writeback.create(directory.key(name), null);
        SharedFile made = files.create(directory, name, content, attributes);
        files.times().set(directory, clock.instant());
        return made;
    }

    /** A new, empty file that is in the store, its inode looked up. */
    SharedFile mknod(long parent, String name, ObjectAttributes attributes) throws ErrnoException {
        SharedFile file = create(parent, name, OpenFlags.O_WRONLY | OpenFlags.O_EXCL, attributes);
        try {
            WrittenFile content = file.written();
            if (content != null) {
                Errnos.run(content::commit);
            }
            return file;
        } catch (ErrnoException | RuntimeException e) {
            inodes.release(file.inode(), 1);
            throw e;
        } finally {
            file.leave(true);
        }
    }

    /** What is there already, joined to write. */
    SharedFile open(long inode, int flags) throws ErrnoException {
        return moving.in(() -> places.parents(inode), () -> openHere(inode, flags));
    }

    private SharedFile openHere(long inode, int flags) throws ErrnoException {
        SharedFile file = open.join(inode, true);
        try {
            boolean truncate = (flags & OpenFlags.O_TRUNC) != 0;
            if (!Errnos.call(() -> file.beginWriting(writeback, truncate, clock.instant()))) {
                throw named.stale(file.inode());
            }
            return file;
        } catch (ErrnoException | RuntimeException e) {
            file.leave(true);
            throw e;
        }
    }

    int write(OpenObject handle, long position, ByteBuffer from, int flags, boolean pages) throws ErrnoException {
        WrittenFile content = writable(handle);
        boolean append = !pages && (flags & OpenFlags.O_APPEND) != 0;
        checkEnd((append ? content.size() : position) + from.remaining());
        return Errnos.call(() -> {
            int written = append ? content.append(from) : content.write(position, from);
            while (pages && from.hasRemaining()) { // the kernel takes its pages for written as a whole
                written += content.write(position + written, from);
            }
            handle.file().changed(clock.instant());
            if (!pages && (flags & OpenFlags.O_DSYNC) != 0) {
                content.fsync();
            }
            return written;
        });
    }

    /** {@link #write} if nothing has to be waited for: {@link FileSystem#WOULD_WAIT} if something has. */
    int writeNow(OpenObject handle, long position, ByteBuffer from, int flags, boolean pages) throws ErrnoException {
        if (!pages && (flags & (OpenFlags.O_APPEND | OpenFlags.O_DSYNC)) != 0) {
            return SharedContent.WOULD_WAIT;
        }
        WrittenFile content = writable(handle);
        int length = from.remaining();
        checkEnd(position + length);
        if (!Errnos.call(() -> content.writeNow(position, from))) {
            return SharedContent.WOULD_WAIT;
        }
        handle.file().changed(clock.instant());
        return length;
    }

    /** @param handle by which it is asked for; null if as if it was opened, cut and closed: truncate(2) */
    void truncate(long inode, @Nullable OpenObject handle, long size) throws ErrnoException {
        if (size < 0) {
            throw new ErrnoException(Errno.EINVAL, "a size of " + size);
        }
        checkEnd(size);
        if (handle != null) {
            truncate(handle, size);
            return;
        }
        int flags = OpenFlags.O_WRONLY | (size == 0 ? OpenFlags.O_TRUNC : 0);
        OpenObject opened = new OpenObject(open(inode, flags), flags, false);
        try {
            truncate(opened, size);
            WrittenFile content = opened.file().written();
            if (content != null && opened.file().links() > 0) {
                commit(content);
            }
        } finally {
            opened.file().leave(opened.opener());
        }
    }

    /** Changes a file, by its inode, while its directory does not move. */
    void changeFile(long inode, MovingDirectories.Change change) throws ErrnoException {
        moving.run(() -> places.parents(inode), change);
    }

    /**
     * Changes what is kept beside the content of a file that has been written, and has that committed. To be called by
     * {@link #changeFile}'s change.
     */
    void keep(long inode, ObjectAttributes attributes) throws ErrnoException {
        SharedFile file = openHere(inode, OpenFlags.O_WRONLY);
        Opener opener = new Opener(true);
        try {
            file.keep(attributes, clock.instant());
            WrittenFile content = file.flush(opener);
            if (content != null) {
                commit(content);
            }
        } finally {
            file.leave(opener);
        }
    }

    /** Changes a directory, by its inode, while it does not move. */
    void changeDirectory(long inode, DirectoryChange change) throws ErrnoException {
        moving.run(() -> List.of(places.directory(inode)), () -> {
            Directory directory = places.directory(inode);
            Errnos.run(() -> change.make(directory));
        });
    }

    /** A change of what is kept of a directory. */
    @FunctionalInterface
    interface DirectoryChange {
        void make(Directory directory) throws ObjectStoreException, InterruptedException;
    }

    private void truncate(OpenObject handle, long size) throws ErrnoException {
        WrittenFile content = writable(handle);
        Errnos.run(() -> content.truncate(size));
        handle.file().changed(clock.instant());
    }

    void fallocate(OpenObject handle, int mode, long offset, long length) throws ErrnoException {
        WrittenFile content = writable(handle);
        if (offset < 0 || length <= 0) {
            throw new ErrnoException(Errno.EINVAL, "offset %d, length %d".formatted(offset, length));
        }
        boolean zero = switch (mode) {
            case 0, FALLOC_FL_KEEP_SIZE -> false;
            case FALLOC_FL_ZERO_RANGE,
                    FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
                    FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE -> true;
            default -> throw new ErrnoException(Errno.EOPNOTSUPP, "fallocate mode " + mode);
        };
        long end = offset > Long.MAX_VALUE - length ? Long.MAX_VALUE : offset + length;
        checkEnd(end);
        Errnos.run(() -> {
            if (zero) {
                content.zero(offset, length);
            }
            if ((mode & FALLOC_FL_KEEP_SIZE) == 0 && end > content.size()) {
                content.truncate(end);
            }
        });
        handle.file().changed(clock.instant());
    }

    /** copy_file_range(2): returns how many bytes were copied. */
    long copy(SharedFile from, long fromPosition, OpenObject handle, long toPosition, long length)
            throws ErrnoException {
        WrittenFile to = writable(handle);
        long count = Math.min(length, from.size() - fromPosition);
        if (fromPosition < 0 || toPosition < 0 || length < 0) {
            throw new ErrnoException(Errno.EINVAL, "a position or length below zero");
        } else if (count <= 0) {
            return 0;
        } else if (from == handle.file() && Math.abs(fromPosition - toPosition) < count) {
            throw new ErrnoException(Errno.EINVAL, "the ranges overlap");
        }
        checkEnd(toPosition + count);
        // The store copies whole objects: one call, or several if it is large.
        ObjectVersion version = from == handle.file() || fromPosition != toPosition ? null : from.version();
        ByteRange range = new ByteRange(fromPosition, count);
        boolean more = count >= ONE_OF_SEVERAL && fromPosition + count < from.size();
        handle.file().changed(clock.instant());
        if (version != null && files.kept().areKept()) {
            handle.file().keep(handle.file().attributes()); // not those of the object that is copied
        }
        return Errnos.call(() -> version != null && to.copyFrom(version, range, more)
                ? count
                : copyBytes(from, fromPosition, to, toPosition, count));
    }

    private static long copyBytes(SharedFile from, long fromPosition, WrittenFile to, long toPosition, long length)
            throws ObjectStoreException, IOException, InterruptedException {
        ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(COPY_BYTES, length));
        long copied = 0;
        while (copied < length) {
            buffer.clear().limit((int) Math.min(buffer.capacity(), length - copied));
            if (from.content().read(fromPosition + copied, buffer, null) == 0) {
                break;
            }
            copied += to.write(toPosition + copied, buffer.flip());
            if (buffer.hasRemaining()) {
                break;
            }
        }
        return copied;
    }

    /** close(2) of one of perhaps several descriptors: the last for writing commits. */
    void flush(OpenObject handle) throws ErrnoException {
        WrittenFile content = handle.file().flush(handle.opener());
        if (content != null) {
            commit(content);
        }
    }

    private void commit(WrittenFile content) throws ErrnoException {
        Errnos.run(() -> {
            switch (config.close()) {
                case VISIBLE -> content.commit();
                case STAGED -> content.closeStaged();
            }
        });
    }

    void fsync(OpenObject handle) throws ErrnoException {
        WrittenFile content = handle.file().written();
        if (content != null && handle.file().links() > 0) {
            Errnos.run(content::fsync);
        }
    }

    /** utimensat(2). */
    void touch(Node node, Instant modified) {
        switch (node) {
            case SharedFile file -> file.touch(modified);
            case FileEntry(var object) -> files.times().set(object.version(), modified, clock.instant());
            default -> {} // a directory's time is the mount's
        }
    }

    private static WrittenFile writable(OpenObject handle) throws ErrnoException {
        if (!handle.isWritable()) {
            throw new ErrnoException(Errno.EBADF, handle.inode() + " is not open for writing");
        }
        return handle.file().written(handle.opener());
    }

    private void checkEnd(long end) throws ErrnoException {
        if (end < 0 || end > config.largestObjectBytes()) {
            throw new ErrnoException(
                    Errno.EFBIG,
                    "%d bytes: more than the store's largest object, which is set to %d"
                            .formatted(end, config.largestObjectBytes()));
        }
    }
}

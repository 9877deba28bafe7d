package io.penstock.fuse.kernel;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.NoWait;
import io.penstock.filesystem.AttributeChange;
import io.penstock.filesystem.Attributes;
import io.penstock.filesystem.CreatedFile;
import io.penstock.filesystem.Creator;
import io.penstock.filesystem.FileSystem;
import io.penstock.fuse.kernel.Layouts.CopyFileRangeIn;
import io.penstock.fuse.kernel.Layouts.CreateIn;
import io.penstock.fuse.kernel.Layouts.FallocateIn;
import io.penstock.fuse.kernel.Layouts.FlushIn;
import io.penstock.fuse.kernel.Layouts.FsyncIn;
import io.penstock.fuse.kernel.Layouts.LinkIn;
import io.penstock.fuse.kernel.Layouts.MkdirIn;
import io.penstock.fuse.kernel.Layouts.MknodIn;
import io.penstock.fuse.kernel.Layouts.Rename2In;
import io.penstock.fuse.kernel.Layouts.RenameIn;
import io.penstock.fuse.kernel.Layouts.SetattrIn;
import io.penstock.fuse.kernel.Layouts.SetxattrIn;
import io.penstock.fuse.kernel.Layouts.WriteIn;
import java.nio.ByteBuffer;
import java.time.DateTimeException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Passes requests that change something, or make changes durable, to the file system. */
final class ChangeOperations {
    /** The maximum number of bytes of one COPY_FILE_RANGE: its count has 32 bits. */
    private static final long LONGEST_COPY = 1L << 30;

    private final FileSystem fileSystem;
    private final ReplyWriter replies;
    private final Descriptors descriptors;
    private final boolean writesBack;

    /** @param writesBack whether only the kernel knows the size of a written file */
    ChangeOperations(FileSystem fileSystem, ReplyWriter replies, Descriptors descriptors, boolean writesBack) {
        this.fileSystem = fileSystem;
        this.replies = replies;
        this.descriptors = descriptors;
        this.writesBack = writesBack;
    }

    /** See {@link Operations#serve}; it may wait. */
    int serve(Request request, Reply reply) throws ErrnoException {
        long node = request.node();
        return switch (request.opcode()) {
            case SETATTR -> replies.attributes(reply, setattr(request));
            case CREATE -> {
                int flags = request.u32(CreateIn.FLAGS);
                CreatedFile created = fileSystem.create(
                        node, request.string(CreateIn.SIZE), request.u32(CreateIn.MODE), creator(request), flags);
                descriptors.opened(created.open().handle(), request.pid());
                yield replies.created(reply, created.attributes(), created.open(), flags);
            }
            case MKNOD ->
                replies.entry(
                        reply,
                        fileSystem.mknod(
                                node,
                                request.string(MknodIn.SIZE),
                                request.u32(MknodIn.MODE),
                                request.u32(MknodIn.RDEV),
                                creator(request)));
            case MKDIR ->
                replies.entry(
                        reply,
                        fileSystem.mkdir(
                                node, request.string(MkdirIn.SIZE), request.u32(MkdirIn.MODE), creator(request)));
            case UNLINK -> {
                fileSystem.unlink(node, request.string(0));
                yield 0;
            }
            case RMDIR -> {
                fileSystem.rmdir(node, request.string(0));
                yield 0;
            }
            case RENAME -> rename(request, RenameIn.SIZE, request.u64(RenameIn.NEWDIR), 0);
            case RENAME2 ->
                rename(request, Rename2In.SIZE, request.u64(Rename2In.NEWDIR), request.u32(Rename2In.FLAGS));
            case SYMLINK -> {
                String name = request.string(0);
                String target = request.string(request.endOfString(0) + 1);
                yield replies.entry(reply, fileSystem.symlink(target, node, name, creator(request)));
            }
            case LINK ->
                replies.entry(reply, fileSystem.link(request.u64(LinkIn.OLDNODEID), node, request.string(LinkIn.SIZE)));
            case SETXATTR -> {
                String name = request.string(SetxattrIn.SIZE);
                int start = request.endOfString(SetxattrIn.SIZE) + 1;
                ByteBuffer bytes = request.bytes(start, request.size(SetxattrIn.SIZE_FIELD));
                byte[] value = new byte[bytes.remaining()];
                bytes.get(value);
                fileSystem.setxattr(node, name, value, request.u32(SetxattrIn.FLAGS));
                yield 0;
            }
            case REMOVEXATTR -> {
                fileSystem.removexattr(node, request.string(0));
                yield 0;
            }
            case FALLOCATE -> {
                fileSystem.fallocate(
                        request.u64(FallocateIn.FH),
                        request.u32(FallocateIn.MODE),
                        request.u64(FallocateIn.OFFSET),
                        request.u64(FallocateIn.LENGTH));
                yield 0;
            }
            case COPY_FILE_RANGE -> copyFileRange(request, reply);
            case FLUSH -> {
                long handle = request.u64(FlushIn.FH);
                int thread = request.pid();
                fileSystem.flush(handle, () -> descriptors.areLeft(handle, thread, node, fileSystem.pathOf(node)));
                yield 0;
            }
            case FSYNC -> {
                fileSystem.fsync(request.u64(FsyncIn.FH));
                yield 0;
            }
            case FSYNCDIR -> {
                fileSystem.fsyncdir(request.u64(FsyncIn.FH));
                yield 0;
            }
            default -> -Errno.ENOSYS.number();
        };
    }

    /** See {@link Operations#serve}. */
    int write(Request request, Reply reply, boolean mayWait) throws ErrnoException {
        if ((request.u32(WriteIn.WRITE_FLAGS) & WriteIn.FUSE_WRITE_KILL_SUIDGID) != 0) {
            fileSystem.dropSetIds(handle(request));
        }
        int written = fileSystem.write(
                handle(request),
                request.u64(WriteIn.OFFSET),
                request.bytes(WriteIn.SIZE, request.size(WriteIn.SIZE_FIELD)),
                request.u32(WriteIn.FLAGS),
                isPages(request),
                mayWait);
        return written == NoWait.WOULD_WAIT ? written : replies.written(reply, written);
    }

    private static long handle(Request request) throws ErrnoException {
        return request.u64(WriteIn.FH);
    }

    /**
     * Whether the handle's flags do not restrict its writes. Changed pages of mapped memory come through any handle of
     * the file, and so do all writes with the writeback cache.
     */
    private boolean isPages(Request request) throws ErrnoException {
        return writesBack || (request.u32(WriteIn.WRITE_FLAGS) & WriteIn.FUSE_WRITE_CACHE) != 0;
    }

    private int rename(Request request, int names, long newParent, int flags) throws ErrnoException {
        String newName = request.string(request.endOfString(names) + 1);
        fileSystem.rename(request.node(), request.string(names), newParent, newName, flags);
        return 0;
    }

    private int copyFileRange(Request request, Reply reply) throws ErrnoException {
        if (request.u64(CopyFileRangeIn.FLAGS) != 0) { // none are defined
            throw new ErrnoException(Errno.EINVAL, "unknown flags of copy_file_range");
        }
        long copied = fileSystem.copyFileRange(
                request.u64(CopyFileRangeIn.FH_IN),
                request.u64(CopyFileRangeIn.OFF_IN),
                request.u64(CopyFileRangeIn.FH_OUT),
                request.u64(CopyFileRangeIn.OFF_OUT),
                // The copying program continues with the rest.
                Math.min(request.u64(CopyFileRangeIn.LEN), LONGEST_COPY));
        return replies.written(reply, (int) copied);
    }

    private static Creator creator(Request request) throws ErrnoException {
        return new Creator(request.uid(), request.gid());
    }

    private Attributes setattr(Request request) throws ErrnoException {
        int valid = request.u32(SetattrIn.VALID);
        Instant modified = time(request, valid, SetattrIn.FATTR_MTIME, SetattrIn.FATTR_MTIME_NOW, SetattrIn.MTIME);
        boolean isOpen = (valid & SetattrIn.FATTR_FH) != 0;
        boolean isOfWrites = isOfWrites(valid);
        if (isOfWrites && !isOpen) { // also after a rename, which did not change the time; or utimensat(2)
            Attributes shown = fileSystem.getattr(request.node());
            if (shown.modified().equals(modified)) {
                return shown;
            }
        }
        AttributeChange change = new AttributeChange(
                (valid & SetattrIn.FATTR_MODE) == 0 ? null : request.u32(SetattrIn.MODE),
                (valid & SetattrIn.FATTR_UID) == 0 ? null : request.u32(SetattrIn.UID),
                (valid & SetattrIn.FATTR_GID) == 0 ? null : request.u32(SetattrIn.GID),
                (valid & SetattrIn.FATTR_SIZE) == 0 ? null : request.u64(SetattrIn.SIZE_FIELD),
                time(request, valid, SetattrIn.FATTR_ATIME, SetattrIn.FATTR_ATIME_NOW, SetattrIn.ATIME),
                isOfWrites && isOpen ? null : modified,
                isOfWrites && isOpen ? modified : null,
                (valid & SetattrIn.FATTR_KILL_SUIDGID) != 0);
        return fileSystem.setattr(request.node(), isOpen ? request.u64(SetattrIn.FH) : null, change);
    }

    /**
     * Whether these may be the kernel's own times, kept with the writeback cache: those of writes by a handle, or, if
     * none is open for writing, those after a new name or extended attribute. fuse_flush_times in fs/fuse/dir.c.
     */
    private boolean isOfWrites(int valid) {
        int others = SetattrIn.FATTR_MODE
                | SetattrIn.FATTR_UID
                | SetattrIn.FATTR_GID
                | SetattrIn.FATTR_SIZE
                | SetattrIn.FATTR_ATIME
                | SetattrIn.FATTR_ATIME_NOW;
        return writesBack && (valid & SetattrIn.FATTR_CTIME) != 0 && (valid & others) == 0;
    }

    /** @param seconds the offset of the seconds: ATIME or MTIME */
    private static @Nullable Instant time(Request request, int valid, int given, int now, int seconds)
            throws ErrnoException {
        if ((valid & now) != 0) {
            return Instant.now();
        }
        if ((valid & given) == 0) {
            return null;
        }
        int nanos = seconds == SetattrIn.ATIME ? SetattrIn.ATIMENSEC : SetattrIn.MTIMENSEC;
        try {
            return Instant.ofEpochSecond(request.u64(seconds), Integer.toUnsignedLong(request.u32(nanos)));
        } catch (DateTimeException e) {
            throw new ErrnoException(Errno.EINVAL, "a time outside the range of Java's times", e);
        }
    }
}

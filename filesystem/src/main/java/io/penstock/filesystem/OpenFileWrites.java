package io.penstock.filesystem;

import io.penstock.core.ByteRange;
import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.NoWait;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.OpenHandle.OpenObject;
import io.penstock.filesystem.files.SharedFile;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.filesystem.names.Writing;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WritebackConfig;
import io.penstock.writeback.WrittenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.InstantSource;

/** Changes the bytes of files that are open for writing. Thread-safe. */
final class OpenFileWrites {
    // fallocate(2)'s modes, from include/uapi/linux/falloc.h.
    private static final int FALLOC_FL_KEEP_SIZE = 1;
    private static final int FALLOC_FL_PUNCH_HOLE = 2;
    private static final int FALLOC_FL_ZERO_RANGE = 0x10;

    /** Bytes that are copied at a time where the store cannot copy. */
    private static final int COPY_BYTES = 1 << 20;

    /**
     * A program that has copied at least this many bytes and is not at the end will call again: the kernel allows up to
     * 2 or 4 GiB a call.
     */
    private static final long ONE_OF_SEVERAL = 1L << 30;

    private final Writeback writeback;
    private final WritebackConfig config;
    private final InstantSource clock;
    private final KeptAttributes kept;
    private final Lookups lookups;

    OpenFileWrites(Writing writing, KeptAttributes kept, Lookups lookups) {
        this.writeback = writing.writeback();
        this.config = writeback.config();
        this.clock = writing.clock();
        this.kept = kept;
        this.lookups = lookups;
    }

    int write(OpenObject handle, long position, ByteBuffer from, int flags, boolean pages, boolean mayWait)
            throws ErrnoException {
        boolean append = !pages && (flags & OpenFlags.O_APPEND) != 0;
        boolean sync = !pages && (flags & OpenFlags.O_DSYNC) != 0;
        if (!mayWait && (append || sync)) {
            return NoWait.WOULD_WAIT;
        }
        WrittenFile content = writable(handle);
        int written = from.remaining();
        checkEnd((append ? content.size() : position) + written);
        try {
            if (!mayWait) {
                if (!content.writeNow(position, from)) {
                    return NoWait.WOULD_WAIT;
                }
            } else {
                written = append ? append(content, from) : content.write(position, from);
                while (pages && from.hasRemaining()) { // the kernel assumes that its pages are written completely
                    written += content.write(position + written, from);
                }
            }
            handle.file().changed(clock.instant());
            if (sync) {
                content.fsync();
            }
        } catch (ObjectStoreException | IOException | InterruptedException e) {
            throw Errnos.of(e);
        }
        return written;
    }

    /** A former process of the mount may have appended some of it. */
    private int append(WrittenFile content, ByteBuffer from)
            throws ObjectStoreException, IOException, InterruptedException {
        int before = writeback.writtenBefore();
        from.position(from.position() + before);
        return before + content.append(from);
    }

    void truncate(OpenObject handle, long size) throws ErrnoException {
        checkSize(size);
        WrittenFile content = writable(handle);
        content.truncate(size);
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
        if (zero) {
            content.zero(offset, length);
        }
        if ((mode & FALLOC_FL_KEEP_SIZE) == 0) {
            content.extend(end);
        }
        handle.file().changed(clock.instant());
    }

    /** copy_file_range(2): returns how many bytes were copied. */
    long copy(SharedFile from, long fromPosition, OpenObject handle, long toPosition, long length)
            throws ErrnoException {
        WrittenFile to = writable(handle);
        long count = Math.min(length, from.size() - fromPosition);
        if (fromPosition < 0 || toPosition < 0 || length < 0) {
            throw new ErrnoException(Errno.EINVAL, "negative position or length");
        } else if (count <= 0) {
            return 0;
        } else if (from == handle.file() && Math.abs(fromPosition - toPosition) < count) {
            throw new ErrnoException(Errno.EINVAL, "the ranges overlap");
        }
        checkEnd(toPosition + count);
        // The store copies whole objects: one call, or several if the object is large.
        ObjectVersion version = from == handle.file() || fromPosition != toPosition ? null : from.version();
        ByteRange range = new ByteRange(fromPosition, count);
        boolean more = count >= ONE_OF_SEVERAL && fromPosition + count < from.size();
        handle.file().changed(clock.instant());
        if (version != null && kept.areKept()) {
            SharedFile file = handle.file();
            file.keep(lookups.kept(file.inode().number(), file)); // not those of the copied object
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
            if (from.content().read(fromPosition + copied, buffer, null, true) == 0) {
                break;
            }
            copied += to.write(toPosition + copied, buffer.flip());
            if (buffer.hasRemaining()) {
                break;
            }
        }
        return copied;
    }

    private static WrittenFile writable(OpenObject handle) throws ErrnoException {
        if (!handle.isWritable()) {
            throw new ErrnoException(Errno.EBADF, handle.inode() + " is not open for writing");
        }
        return handle.file().written(handle.opener());
    }

    /** Throws if no file can have this size. */
    void checkSize(long size) throws ErrnoException {
        if (size < 0) {
            throw new ErrnoException(Errno.EINVAL, "invalid size: " + size);
        }
        checkEnd(size);
    }

    private void checkEnd(long end) throws ErrnoException {
        if (end < 0 || end > config.largestObjectBytes()) {
            throw new ErrnoException(
                    Errno.EFBIG,
                    "%d bytes exceed the largest object that the store accepts, which is set to %d"
                            .formatted(end, config.largestObjectBytes()));
        }
    }
}

package io.penstock.fuse.kernel;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.Attributes;
import io.penstock.filesystem.Statfs;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.fuse.kernel.Layouts.Attr;
import io.penstock.fuse.kernel.Layouts.AttrOut;
import io.penstock.fuse.kernel.Layouts.EntryOut;
import io.penstock.fuse.kernel.Layouts.GetxattrOut;
import io.penstock.fuse.kernel.Layouts.LseekOut;
import io.penstock.fuse.kernel.Layouts.OpenOut;
import io.penstock.fuse.kernel.Layouts.StatfsOut;
import io.penstock.fuse.kernel.Layouts.WriteOut;
import java.time.Instant;

/** Writes the file system's results into replies. Each method returns the body's length. Thread-safe. */
final class ReplyWriter {
    /**
     * The read size for programs that use st_blksize: a larger one would make small reads of buffered programs slow.
     */
    private static final int PREFERRED_READ = 128 << 10;

    private static final long NANOS_PER_SECOND = 1_000_000_000;

    // open(2)'s flags: include/uapi/asm-generic/fcntl.h.
    private static final int O_ACCMODE = 3;
    private static final int O_CREAT = 0100;
    private static final int O_TRUNC = 01000;

    /** The flag that differs by architecture: arch/arm64/include/uapi/asm/fcntl.h. */
    private static final int O_DIRECT = System.getProperty("os.arch", "").equals("aarch64") ? 0200000 : 040000;

    private final CachingLimit longestValid;
    private final boolean directWrites;

    /**
     * @param longestValid maximum time for which the kernel caches names and attributes
     * @param directWrites whether writes of files opened with O_DIRECT bypass the kernel's pages, on several threads
     *     concurrently: the kernel must drop its pages of the written range
     */
    ReplyWriter(CachingLimit longestValid, boolean directWrites) {
        this.longestValid = longestValid;
        this.directWrites = directWrites;
    }

    int entry(Reply reply, Attributes attributes) {
        writeEntry(reply.clear(EntryOut.SIZE), 0, attributes);
        return EntryOut.SIZE;
    }

    /** A negative entry: unlike ENOENT, the kernel caches it. */
    int noEntry(Reply reply, long validNanos) {
        reply.clear(EntryOut.SIZE);
        writeValidity(reply, EntryOut.ENTRY_VALID, EntryOut.ENTRY_VALID_NSEC, validNanos);
        return EntryOut.SIZE;
    }

    int attributes(Reply reply, Attributes attributes) {
        reply.clear(AttrOut.SIZE);
        writeValidity(reply, AttrOut.ATTR_VALID, AttrOut.ATTR_VALID_NSEC, attributes.validNanos());
        writeAttributes(reply, AttrOut.ATTR, attributes);
        return AttrOut.SIZE;
    }

    /** @param flags the requested flags of open(2) */
    int opened(Reply reply, OpenFile file, int flags) {
        reply.clear(OpenOut.SIZE);
        writeOpened(reply, 0, file, flags);
        return OpenOut.SIZE;
    }

    int openedDirectory(Reply reply, OpenFile directory) {
        reply.clear(OpenOut.SIZE).u64(OpenOut.FH, directory.handle());
        reply.u32(
                OpenOut.OPEN_FLAGS,
                switch (directory.pageCache()) {
                    case KEEP -> OpenOut.FOPEN_CACHE_DIR | OpenOut.FOPEN_KEEP_CACHE;
                    case INVALIDATE -> OpenOut.FOPEN_CACHE_DIR;
                    case BYPASS -> OpenOut.FOPEN_KEEP_CACHE; // only for other files
                    case PASS_THROUGH -> throw new IllegalArgumentException("a directory is never passed through");
                });
        return OpenOut.SIZE;
    }

    /** @param flags the requested flags of open(2) */
    int created(Reply reply, Attributes attributes, OpenFile file, int flags) {
        writeEntry(reply.clear(EntryOut.SIZE + OpenOut.SIZE), 0, attributes);
        writeOpened(reply, EntryOut.SIZE, file, flags);
        return EntryOut.SIZE + OpenOut.SIZE;
    }

    int position(Reply reply, long offset) {
        reply.u64(LseekOut.OFFSET, offset);
        return LseekOut.SIZE;
    }

    int written(Reply reply, int bytes) {
        reply.clear(WriteOut.SIZE).u32(WriteOut.SIZE_FIELD, bytes);
        return WriteOut.SIZE;
    }

    int statfs(Reply reply, Statfs statfs) {
        reply.clear(StatfsOut.SIZE);
        reply.u64(StatfsOut.BLOCKS, statfs.blocks());
        reply.u64(StatfsOut.BFREE, statfs.freeBlocks());
        reply.u64(StatfsOut.BAVAIL, statfs.freeBlocks());
        reply.u32(StatfsOut.BSIZE, statfs.blockSize());
        reply.u32(StatfsOut.FRSIZE, statfs.blockSize());
        reply.u32(StatfsOut.NAMELEN, statfs.nameMax());
        return StatfsOut.SIZE;
    }

    /**
     * The value of getxattr(2) and listxattr(2).
     *
     * @param room 0 requests only the value's length
     * @throws ErrnoException ERANGE if there is not enough room
     */
    int value(Reply reply, byte[] value, int room) throws ErrnoException {
        if (room == 0) {
            reply.clear(GetxattrOut.SIZE).u32(GetxattrOut.SIZE_FIELD, value.length);
            return GetxattrOut.SIZE;
        }
        if (room < value.length) {
            throw new ErrnoException(Errno.ERANGE, value.length + " bytes into " + room);
        }
        reply.bytes(0, value);
        return value.length;
    }

    /** A path, without NUL. */
    int link(Reply reply, String target) {
        byte[] bytes = target.getBytes(UTF_8);
        reply.bytes(0, bytes);
        return bytes.length;
    }

    /** Writes an entry_out of this file at the offset, where all bytes are zero. */
    void writeEntry(Reply reply, int offset, Attributes attributes) {
        reply.u64(offset + EntryOut.NODEID, attributes.inode());
        long valid = attributes.validNanos();
        writeValidity(reply, offset + EntryOut.ENTRY_VALID, offset + EntryOut.ENTRY_VALID_NSEC, valid);
        writeValidity(reply, offset + EntryOut.ATTR_VALID, offset + EntryOut.ATTR_VALID_NSEC, valid);
        writeAttributes(reply, offset + EntryOut.ATTR, attributes);
    }

    private void writeValidity(Reply reply, int seconds, int nanos, long validNanos) {
        long valid = longestValid.cut(validNanos);
        reply.u64(seconds, valid / NANOS_PER_SECOND);
        reply.u32(nanos, (int) (valid % NANOS_PER_SECOND));
    }

    private static void writeAttributes(Reply reply, int offset, Attributes attributes) {
        Instant accessed = attributes.accessed();
        Instant modified = attributes.modified();
        Instant changed = attributes.changed();
        reply.u64(offset + Attr.INO, attributes.number());
        reply.u64(offset + Attr.SIZE_FIELD, attributes.size());
        reply.u64(offset + Attr.BLOCKS, attributes.blocks());
        reply.u64(offset + Attr.ATIME, accessed.getEpochSecond());
        reply.u64(offset + Attr.MTIME, modified.getEpochSecond());
        reply.u64(offset + Attr.CTIME, changed.getEpochSecond());
        reply.u32(offset + Attr.ATIMENSEC, accessed.getNano());
        reply.u32(offset + Attr.MTIMENSEC, modified.getNano());
        reply.u32(offset + Attr.CTIMENSEC, changed.getNano());
        reply.u32(offset + Attr.MODE, attributes.mode());
        reply.u32(offset + Attr.NLINK, attributes.links());
        reply.u32(offset + Attr.UID, attributes.uid());
        reply.u32(offset + Attr.GID, attributes.gid());
        reply.u32(offset + Attr.RDEV, attributes.device());
        reply.u32(offset + Attr.BLKSIZE, PREFERRED_READ);
    }

    private void writeOpened(Reply reply, int offset, OpenFile file, int asked) {
        int flags = switch (file.pageCache()) {
            case KEEP -> OpenOut.FOPEN_KEEP_CACHE;
            case INVALIDATE -> 0;
            case BYPASS -> OpenOut.FOPEN_DIRECT_IO;
            case PASS_THROUGH -> OpenOut.FOPEN_PASSTHROUGH;
        };
        if ((asked & (O_ACCMODE | O_CREAT | O_TRUNC)) == 0) {
            flags |= OpenOut.FOPEN_NOFLUSH;
        } else if (directWrites && (asked & O_DIRECT) != 0) {
            flags |= OpenOut.FOPEN_DIRECT_IO | OpenOut.FOPEN_PARALLEL_DIRECT_WRITES;
        }
        reply.u64(offset + OpenOut.FH, file.handle());
        reply.u32(offset + OpenOut.BACKING_ID, file.backing());
        reply.u32(offset + OpenOut.OPEN_FLAGS, flags);
    }
}

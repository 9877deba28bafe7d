package io.penstock.disk;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.zip.CRC32C;

/**
 * Records in a file, or in a part of one, that are written through mapped memory: what was stored before a SIGKILL is
 * there afterwards, without a system call. They need not survive the machine, so nothing is forced to a disk.
 *
 * <p>They lie in chunks. A record lies within one, at a multiple of 8, after its length and CRC32C. The length
 * is stored last: a record is there, or it is the end. Padding ends a chunk before its last byte.
 *
 * <p>Not thread-safe.
 */
public final class MappedLog implements AutoCloseable {
    /** A reply with directory entries has 1 MiB at most, and fits. */
    public static final int CHUNK = 4 << 20;

    /** Identifies the format and its version; only the same build reads it, or one that knows this number. */
    static final long MAGIC = 0x7065_6e73_746f_0001L;

    /** Where the first chunk's records begin. */
    static final int FIRST = Long.BYTES;

    /** Length and CRC32C. */
    static final int FRAME = 2 * Integer.BYTES;

    /** A length: the next record is in the next chunk. */
    static final int PADDING = -1;

    static final VarHandle LENGTH = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

    private final MappedFile file;

    /** Whether the file is this log's own, and closed with it. */
    private final boolean isWhole;

    /** Where its first chunk is in the file. */
    private final long origin;

    private final CRC32C sum = new CRC32C();

    /** The last chunk's offset in the log. */
    private long start;

    private ByteBuffer chunk;

    /** The next record's frame in the chunk. */
    private int at;

    private MappedLog(MappedFile file, boolean isWhole, long origin, long start, int at) throws IOException {
        this.file = file;
        this.isWhole = isWhole;
        this.origin = origin;
        this.start = start;
        this.chunk = map();
        this.at = at;
    }

    /** Creates an empty log in place of another file. */
    public static MappedLog create(Path path) throws IOException {
        Files.deleteIfExists(path); // a process that is ending may have it mapped
        Path created = Files.createFile(
                path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        MappedFile file = MappedFile.open(created);
        try {
            return create(file, true, 0);
        } catch (IOException | RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    /** Creates an empty log in a part of the file, which is the caller's. */
    public static MappedLog create(MappedFile file, long origin) throws IOException {
        return create(file, false, origin);
    }

    private static MappedLog create(MappedFile file, boolean isWhole, long origin) throws IOException {
        file.clear(origin, CHUNK);
        MappedLog log = new MappedLog(file, isWhole, origin, 0, FIRST);
        log.chunk.putLong(0, MAGIC);
        return log;
    }

    /** @param end where the records end; what a killed process left behind it is removed */
    public static MappedLog reopen(Path path, long end) throws IOException {
        MappedFile file = MappedFile.open(path);
        try {
            return reopen(file, true, 0, end);
        } catch (IOException | RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    /** The same for a log in a part of a file. */
    public static MappedLog reopen(MappedFile file, long origin, long end) throws IOException {
        return reopen(file, false, origin, end);
    }

    private static MappedLog reopen(MappedFile file, boolean isWhole, long origin, long end) throws IOException {
        MappedLog log = new MappedLog(file, isWhole, origin, end / CHUNK * CHUNK, (int) (end % CHUNK));
        MemorySegment.ofBuffer(log.chunk).asSlice(log.at).fill((byte) 0);
        return log;
    }

    private ByteBuffer map() throws IOException {
        return file.map(origin + start, CHUNK).order(ByteOrder.nativeOrder());
    }

    /** Where the records end, from the log's first byte. */
    public long end() {
        return start + at;
    }

    /**
     * Adds a record.
     *
     * @param record from its position to its limit
     * @throws IOException also if it does not fit into a chunk
     */
    public void append(ByteBuffer record) throws IOException {
        int length = record.remaining();
        if (FRAME + length + FRAME > CHUNK - FIRST) {
            throw new IOException("a record of " + length + " bytes is too long");
        } else if (at + FRAME + length + FRAME > CHUNK) {
            startChunk();
        }
        chunk.put(at + FRAME, record, record.position(), length);
        chunk.putInt(at + Integer.BYTES, checksum(sum, record));
        storeLength(length);
        at = aligned(at + FRAME + length);
    }

    /** After the record: what a variable handle does, which takes long without the optimizing compiler. */
    private void storeLength(int length) {
        VarHandle.releaseFence();
        chunk.putInt(at, length); // aligned, so that it is stored as a whole
    }

    private void startChunk() throws IOException {
        file.clear(origin + start + CHUNK, CHUNK);
        storeLength(PADDING);
        start += CHUNK;
        chunk = map();
        at = 0;
    }

    /** The CRC32C of all that remains in the record, which is then at its limit. */
    static int checksum(CRC32C sum, ByteBuffer record) {
        sum.reset();
        sum.update(record);
        return (int) sum.getValue();
    }

    static int aligned(int offset) {
        return Math.ceilDiv(offset, Long.BYTES) * Long.BYTES;
    }

    /** The garbage collector unmaps it. */
    @Override
    public void close() {
        if (isWhole) {
            file.close();
        }
    }
}

package io.penstock.disk;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
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
    /** Longer than any record: a reply with directory entries has 1 MiB at most. */
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

    private static final ByteBuffer ZEROS = ByteBuffer.allocate(64 << 10);

    private final FileChannel channel;

    /** Where its first chunk is in the file. */
    private final long origin;

    private final CRC32C sum = new CRC32C();

    /** The last chunk's offset in the log. */
    private long start;

    private Arena arena;
    private ByteBuffer chunk;

    /** The next record's frame in the chunk. */
    private int at;

    private MappedLog(FileChannel channel, long origin, long start, int at) throws IOException {
        this.channel = channel;
        this.origin = origin;
        this.start = start;
        this.arena = Arena.ofShared();
        this.chunk = map(arena);
        this.at = at;
    }

    /** Creates an empty log in place of another file. */
    public static MappedLog create(Path file) throws IOException {
        Files.deleteIfExists(file); // a process that is ending may have it mapped
        return create(
                FileChannel.open(
                        file,
                        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
                        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))),
                0);
    }

    /** Creates an empty log in an existing file, from this offset on. */
    public static MappedLog create(Path file, long origin) throws IOException {
        return create(FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE), origin);
    }

    private static MappedLog create(FileChannel channel, long origin) throws IOException {
        try {
            zero(channel, origin);
            MappedLog log = new MappedLog(channel, origin, 0, FIRST);
            log.chunk.putLong(0, MAGIC);
            return log;
        } catch (IOException | RuntimeException | Error e) {
            channel.close();
            throw e;
        }
    }

    /** @param end where the records end; what a killed process left behind it is removed */
    public static MappedLog reopen(Path file, long origin, long end) throws IOException {
        FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            MappedLog log = new MappedLog(channel, origin, end / CHUNK * CHUNK, (int) (end % CHUNK));
            MemorySegment.ofBuffer(log.chunk).asSlice(log.at).fill((byte) 0);
            return log;
        } catch (IOException | RuntimeException | Error e) {
            channel.close();
            throw e;
        }
    }

    /** The memory is reserved by writing it: storing into mapped memory that the file system cannot provide is fatal. */
    private static void zero(FileChannel channel, long from) throws IOException {
        for (long offset = from; offset < from + CHUNK; ) {
            offset += channel.write(ZEROS.duplicate(), offset);
        }
    }

    private ByteBuffer map(Arena owner) throws IOException {
        return channel.map(MapMode.READ_WRITE, origin + start, CHUNK, owner)
                .asByteBuffer()
                .order(ByteOrder.nativeOrder());
    }

    /** Where the records end, from the log's first byte. */
    public long end() {
        return start + at;
    }

    /**
     * Adds a record.
     *
     * @param record from its position to its limit; shorter than a chunk
     */
    public void append(ByteBuffer record) throws IOException {
        int length = record.remaining();
        if (at + FRAME + length + FRAME > CHUNK) {
            startChunk();
        }
        chunk.put(at + FRAME, record, record.position(), length);
        chunk.putInt(at + Integer.BYTES, checksum(sum, record));
        LENGTH.setRelease(chunk, at, length);
        at = aligned(at + FRAME + length);
    }

    private void startChunk() throws IOException {
        zero(channel, origin + start + CHUNK);
        LENGTH.setRelease(chunk, at, PADDING);
        start += CHUNK;
        Arena former = arena;
        arena = Arena.ofShared();
        chunk = map(arena);
        at = 0;
        former.close();
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

    @Override
    public void close() throws IOException {
        arena.close();
        channel.close();
    }
}

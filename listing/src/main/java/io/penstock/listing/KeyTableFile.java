package io.penstock.listing;

import io.penstock.core.Crc32c;
import io.penstock.listing.FileReplacement.Decision;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.function.LongSupplier;
import java.util.zip.CRC32C;
import java.util.zip.CheckedOutputStream;

/**
 * A file that keeps a {@link KeyTable} for the next process: a snapshot. It is replaced as a whole, and has three
 * parts:
 *
 * <pre>
 *   head    magic, version, CRC32C of the index, where the index begins, its length, CRC32C of the head
 *   chunks  as they are in memory, one after the other: mapped, and each checked when it is first used
 *   index   {@link KeyTableIndex}: read, and checked, when the file is opened
 * </pre>
 *
 * <p>Numbers are big-endian. Checksums cover every byte of the file.
 *
 * <p>No other process may change the file: the JVM throws an InternalError when a mapped file is truncated, unless the
 * chunk has not been checked yet. Safe for use by several threads, but only one may {@link #write} at a time.
 */
public final class KeyTableFile {
    /** "PENSKEYS". */
    private static final long MAGIC = 0x50454e53_4b455953L;

    /** Must be raised with each change of the format, including that of chunks ({@link EntryCode}). */
    private static final int VERSION = 1;

    private static final int HEAD_BYTES = 36;

    /** Smaller pieces are collected before they are written. */
    private static final int WRITE_BYTES = 256 << 10;

    private record Head(int indexSum, long indexAt, long indexLength) {
        ByteBuffer encoded() {
            ByteBuffer bytes = ByteBuffer.allocate(HEAD_BYTES)
                    .putLong(MAGIC)
                    .putInt(VERSION)
                    .putInt(indexSum)
                    .putLong(indexAt)
                    .putLong(indexLength);
            return bytes.putInt(Crc32c.of(bytes.duplicate().flip())).flip();
        }
    }

    private final Path file;
    private final String owner;
    private final LongSupplier nanoClock;
    private final InstantSource clock;

    /**
     * @param owner the origin of the keys, such as server, bucket and prefix: a file of another owner is refused
     * @param nanoClock the clock of page times
     * @param clock from which the next process computes their age
     */
    public KeyTableFile(Path file, String owner, LongSupplier nanoClock, InstantSource clock) {
        this.file = file;
        this.owner = owner;
        this.nanoClock = nanoClock;
        this.clock = clock;
    }

    // ---- writing

    /**
     * Replaces the file by one of this table, and waits until the disk has stored it. If this throws, the former file
     * is unchanged, unless only the sync of the folder failed. It may be interrupted.
     *
     * @throws IOException if the file cannot be written, or the table itself comes from a damaged file
     * @throws IllegalStateException if the table is closed during the write
     */
    void write(KeyTable table) throws IOException {
        write(table, FileReplacement.Put::run);
    }

    /** Writes the file, and replaces the former one if the decision says so. */
    public void write(KeyTable table, Decision decision) throws IOException {
        try {
            FileReplacement.write(file, channel -> write(table, channel), decision);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private void write(KeyTable table, FileChannel channel) throws IOException {
        OutputStream out = new BufferedOutputStream(Channels.newOutputStream(channel), WRITE_BYTES);
        out.write(new byte[HEAD_BYTES]);
        int[] sums = writeChunks(table, out);
        out.flush();
        long indexAt = channel.position();
        CRC32C indexSum = new CRC32C();
        DataOutputStream index = new DataOutputStream(new CheckedOutputStream(out, indexSum));
        KeyTableIndex.write(table, sums, owner, new WallTimes(nanoClock, clock), index);
        index.flush();
        Head whole = new Head((int) indexSum.getValue(), indexAt, channel.position() - indexAt);
        ByteBuffer head = whole.encoded();
        while (head.hasRemaining()) {
            channel.write(head, head.position());
        }
    }

    /** Copies through the heap: the table could not be closed while the kernel reads its memory. */
    private static int[] writeChunks(KeyTable table, OutputStream out) throws IOException {
        int[] sums = new int[table.chunkCount()];
        byte[] bytes = new byte[KeyTableIndex.MAX_CHUNK];
        CRC32C sum = new CRC32C();
        for (int i = 0; i < sums.length; i++) {
            MemorySegment chunk = table.chunkAt(i).memory();
            int length = (int) chunk.byteSize();
            MemorySegment.copy(chunk, ValueLayout.JAVA_BYTE, 0, bytes, 0, length);
            sum.reset();
            sum.update(bytes, 0, length);
            sums[i] = (int) sum.getValue();
            out.write(bytes, 0, length);
        }
        return sums;
    }

    // ---- reading

    /**
     * The table written last; its pages have their present age. The parts on the heap are read and checked; chunks are
     * checked when they are first used.
     *
     * @return must be closed; readers may still get an UncheckedIOException, see {@link KeyTable}
     * @throws DamagedSnapshotException if the file has another owner or version, or is damaged
     * @throws java.nio.file.NoSuchFileException if there is none
     */
    public KeyTable open() throws IOException {
        Arena arena = Arena.ofShared();
        boolean isOpen = false;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
                Arena scratch = Arena.ofConfined()) {
            Head head = readHead(channel);
            ByteBuffer index = scratch.allocate(head.indexLength).asByteBuffer();
            read(channel, head.indexAt, index);
            if (Crc32c.of(index) != head.indexSum) {
                throw damaged("the checksum of its index does not match");
            }
            MemorySegment chunks = channel.map(MapMode.READ_ONLY, HEAD_BYTES, head.indexAt - HEAD_BYTES, arena);
            WallTimes times = new WallTimes(nanoClock, clock);
            KeyTable table = new KeyTableIndex(file, index).open(owner, times, chunks, arena);
            isOpen = true;
            return table;
        } finally {
            if (!isOpen) {
                arena.close();
            }
        }
    }

    private Head readHead(FileChannel channel) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(HEAD_BYTES);
        read(channel, 0, bytes);
        if (bytes.remaining() < HEAD_BYTES || bytes.getLong() != MAGIC) {
            throw new DamagedSnapshotException(file, "is not a snapshot: it has no valid header");
        }
        int version = bytes.getInt();
        if (version != VERSION) {
            throw new DamagedSnapshotException(
                    file, "has format " + version + ", but this version of Penstock reads format " + VERSION);
        }
        Head head = new Head(bytes.getInt(), bytes.getLong(), bytes.getLong());
        if (!head.encoded().equals(bytes.rewind())) {
            throw damaged("the checksum of its header does not match");
        } else if (channel.size() != head.indexAt + head.indexLength) {
            throw damaged("it is " + channel.size() + " bytes long, not " + (head.indexAt + head.indexLength));
        } else if (head.indexAt < HEAD_BYTES || head.indexLength < 0 || head.indexLength > Integer.MAX_VALUE) {
            throw damaged("its header gives an invalid position of the index: " + head.indexAt);
        }
        return head;
    }

    /** Reads until the buffer is full or the file ends, and flips it. */
    private static void read(FileChannel channel, long position, ByteBuffer to) throws IOException {
        while (to.hasRemaining() && channel.read(to, position + to.position()) >= 0) {
            // continues
        }
        to.flip();
    }

    private DamagedSnapshotException damaged(String why) {
        return new DamagedSnapshotException(file, "is damaged: " + why);
    }
}

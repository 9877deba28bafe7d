package io.penstock.listing;

import io.penstock.core.Printable;
import io.penstock.listing.KeyTable.Chunk;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The index of a {@link KeyTableFile}:
 *
 * <pre>
 *   text   the owner of the keys
 *   long   when the file was written, in milliseconds since 1970
 *   long   objects
 *   int    lists of storage classes; of each an int, how many, and as many texts
 *   int    chunks; of each 3 ints: bytes, CRC32C, which list of storage classes
 *   int    blocks; of each a long: its address
 *   int    pages; of each 2 longs: where it starts, when it was requested in milliseconds since 1970
 * </pre>
 *
 * <p>A text is an int, the length of its UTF-8 in bytes, followed by these bytes. An instance reads an index once. It
 * trusts none of the numbers, so a forged file does no harm. Confined to one thread.
 */
final class KeyTableIndex {
    /** Bytes. A larger chunk is impossible: a chunk exceeds an address's reach by less than a block. */
    static final int MAX_CHUNK = 4 << KeyTable.OFFSET_BITS;

    private final Path file;
    private final ByteBuffer index;

    KeyTableIndex(Path file, ByteBuffer index) {
        this.file = file;
        this.index = index;
    }

    // ---- writing

    /** @param sums the CRC32C of each chunk */
    static void write(KeyTable table, int[] sums, String owner, WallTimes times, DataOutputStream to)
            throws IOException {
        writeText(owner, to);
        to.writeLong(times.millis());
        to.writeLong(table.size());
        writeChunks(table, sums, to);
        to.writeInt(table.blockCount());
        for (int i = 0; i < table.blockCount(); i++) {
            to.writeLong(table.address(i));
        }
        to.writeInt(table.pageCount());
        for (int i = 0; i < table.pageCount(); i++) {
            to.writeLong(table.pageStart(i));
            to.writeLong(times.millis(table.pageTime(i)));
        }
    }

    private static void writeChunks(KeyTable table, int[] sums, DataOutputStream to) throws IOException {
        Map<List<String>, Integer> numbers = new LinkedHashMap<>();
        for (int i = 0; i < sums.length; i++) {
            numbers.putIfAbsent(table.chunkAt(i).storageClasses(), numbers.size());
        }
        to.writeInt(numbers.size());
        for (List<String> classes : numbers.keySet()) {
            to.writeInt(classes.size());
            for (String name : classes) {
                writeText(name, to);
            }
        }
        to.writeInt(sums.length);
        for (int i = 0; i < sums.length; i++) {
            Chunk chunk = table.chunkAt(i);
            to.writeInt((int) chunk.memory().byteSize());
            to.writeInt(sums[i]);
            to.writeInt(numbers.getOrDefault(chunk.storageClasses(), 0));
        }
    }

    private static void writeText(String text, DataOutputStream to) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        to.writeInt(bytes.length);
        to.write(bytes);
    }

    // ---- reading

    /**
     * The table that the index describes.
     *
     * @param owner the expected owner of the keys
     * @param memory the chunks, one after the other
     * @param arena of this memory; closed with the table
     * @throws DamagedSnapshotException if it has another owner, or is inconsistent
     */
    KeyTable open(String owner, WallTimes times, MemorySegment memory, Arena arena) throws DamagedSnapshotException {
        try {
            String found = readText();
            if (!found.equals(owner)) {
                throw new DamagedSnapshotException(
                        file, "is of '" + Printable.text(found) + "', not of '" + Printable.text(owner) + "'");
            }
            long writtenMillis = index.getLong();
            long size = index.getLong();
            List<List<String>> classes = readClasses();
            int[] sums = new int[count(3 * Integer.BYTES)];
            Chunk[] chunks = readChunks(memory, classes, sums);
            long[] blocks = new long[count(Long.BYTES)];
            index.asLongBuffer().get(blocks);
            index.position(index.position() + blocks.length * Long.BYTES);
            checkBlocks(blocks, chunks, size);
            long[] pageStarts = new long[count(2 * Long.BYTES)];
            long[] pageTimes = new long[pageStarts.length];
            for (int i = 0; i < pageStarts.length; i++) {
                pageStarts[i] = index.getLong();
                pageTimes[i] = times.nanoTime(index.getLong(), writtenMillis);
                check(pageStarts[i] >= (i == 0 ? 0 : pageStarts[i - 1]));
            }
            check(pageStarts.length > 0 && !index.hasRemaining());
            return new KeyTable(
                    chunks, blocks, pageStarts, pageTimes, size, new ChunkChecksums(file, sums), List.of(arena));
        } catch (BufferUnderflowException e) {
            throw unfit();
        }
    }

    private List<List<String>> readClasses() throws DamagedSnapshotException {
        List<List<String>> lists = new ArrayList<>();
        for (int left = count(Integer.BYTES); left > 0; left--) {
            List<String> classes = new ArrayList<>();
            for (int names = count(Integer.BYTES); names > 0; names--) {
                classes.add(readText());
            }
            lists.add(List.copyOf(classes));
        }
        return lists;
    }

    private Chunk[] readChunks(MemorySegment memory, List<List<String>> classes, int[] sums)
            throws DamagedSnapshotException {
        Chunk[] chunks = new Chunk[sums.length];
        long at = 0;
        for (int i = 0; i < chunks.length; i++) {
            int length = index.getInt();
            sums[i] = index.getInt();
            int number = index.getInt();
            check(length > 0 && length <= Math.min(MAX_CHUNK, memory.byteSize() - at));
            check(number >= 0 && number < classes.size());
            chunks[i] = new Chunk(memory.asSlice(at, length), classes.get(number));
            at += length;
        }
        check(at == memory.byteSize());
        return chunks;
    }

    /** Checks that each chunk begins with a block, and that the other blocks follow it. */
    private void checkBlocks(long[] blocks, Chunk[] chunks, long size) throws DamagedSnapshotException {
        long chunk = -1;
        long offset = 0;
        for (long address : blocks) {
            long before = offset;
            offset = address & ((1L << KeyTable.OFFSET_BITS) - 1);
            boolean isBehind = address >>> KeyTable.OFFSET_BITS == chunk && offset > before;
            if (!isBehind) {
                check(address == ++chunk << KeyTable.OFFSET_BITS && chunk < chunks.length);
            }
            check(offset < chunks[(int) chunk].memory().byteSize());
        }
        check(chunk == chunks.length - 1);
        check(size >= blocks.length && size < Math.max(1, (long) blocks.length << KeyTable.INDEX_BITS));
    }

    /** The number of following items, each of at least this many bytes. */
    private int count(int bytes) throws DamagedSnapshotException {
        int count = index.getInt();
        check(count >= 0 && count <= index.remaining() / bytes);
        return count;
    }

    private String readText() throws DamagedSnapshotException {
        byte[] bytes = new byte[count(1)];
        index.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private void check(boolean fits) throws DamagedSnapshotException {
        if (!fits) {
            throw unfit();
        }
    }

    private DamagedSnapshotException unfit() {
        return new DamagedSnapshotException(file, "is damaged: its index is inconsistent");
    }
}

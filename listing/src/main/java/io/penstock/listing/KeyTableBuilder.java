package io.penstock.listing;

import io.penstock.core.NativeMemory;
import io.penstock.core.ObjectVersion;
import io.penstock.core.Printable;
import io.penstock.listing.KeyTable.Chunk;
import io.penstock.objectstore.StoredObject;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Builds a {@link KeyTable}, or one range of its keys. Objects are added in order, and builders of consecutive ranges
 * are {@linkplain KeyTable#join joined}.
 *
 * <pre>
 *   OPEN ──finish──▶ FINISHED ──join──▶ HANDED OVER
 *     └─────close───────┴──────▶ CLOSED
 * </pre>
 *
 * <p>Used by one thread at a time.
 */
public final class KeyTableBuilder implements AutoCloseable {
    /** Entries in a block. Twice as many would save 2 bytes an object, but a lookup would scan twice as far. */
    static final int BLOCK_SIZE = 16;

    /**
     * A chunk moves to native memory once it has no room for another block, so it exceeds this by less than a block. It
     * is built on the heap because native memory must have its final size: a bucket may be listed in a thousand ranges.
     */
    private static final int CHUNK_SIZE = 1 << KeyTable.OFFSET_BITS;

    /** Bytes. S3's longest keys have 1,024; a table refuses longer keys of other stores. */
    static final int MAX_KEY = 4 << 10;

    private enum State {
        OPEN,
        FINISHED,
        HANDED_OVER,
        CLOSED
    }

    private final int blockSize;
    private State state = State.OPEN;
    private final List<Chunk> chunks = new ArrayList<>();
    private @Nullable Arena arena;

    /** The chunk being built: whole blocks, and a started one if {@link #inBlock} is not 0. */
    private GrowingBytes chunk = new GrowingBytes(16 << 10);

    private int blockStart;
    private int inBlock;
    private long blockMillis;

    /** Addresses, as in the table. */
    private long[] blocks = new long[64];

    private int blockCount;

    private long[] pageStarts = new long[8];
    private long[] pageTimes = new long[8];
    private int pageCount;

    private final List<String> storageClasses = new ArrayList<>();
    private final Map<String, Integer> classNumbers = new HashMap<>();
    private @Nullable String lastClass;
    private int lastClassNumber;

    private long size;
    private long bytes;
    private byte[] first = new byte[0];
    private GrowingBytes last = new GrowingBytes(128);
    private GrowingBytes key = new GrowingBytes(128);

    public KeyTableBuilder() {
        this(BLOCK_SIZE);
    }

    /** @param blockSize entries in a block */
    KeyTableBuilder(int blockSize) {
        if (blockSize < 1 || blockSize >= 1 << KeyTable.INDEX_BITS) {
            throw new IllegalArgumentException("invalid block size: " + blockSize + " entries");
        }
        this.blockSize = blockSize;
    }

    /** Sets the request time of the following objects, and of the gaps between and after them. */
    public void page(long asOfNanos) {
        check(State.OPEN);
        if (pageCount == pageStarts.length) {
            pageStarts = Arrays.copyOf(pageStarts, pageCount * 2);
            pageTimes = Arrays.copyOf(pageTimes, pageCount * 2);
        }
        pageStarts[pageCount] = position();
        pageTimes[pageCount++] = asOfNanos;
    }

    /**
     * Adds an object. Its time is kept in whole milliseconds.
     *
     * @throws IllegalArgumentException if the key is not after the last one or is not valid Unicode, or if the key or
     *     the ETag is longer than any of S3's; then nothing has been added
     */
    public void add(StoredObject object) {
        check(State.OPEN);
        if (pageCount == 0) {
            throw new IllegalStateException("an object without a page");
        }
        ObjectVersion version = object.version();
        int shared = shared(version);
        if (inBlock == 0) {
            beginBlock(version);
            chunk.putVarint(key.length);
            chunk.put(key.array, 0, key.length);
        } else {
            EntryCode.writeKey(chunk, key, shared, last.sharedEnd(key, shared, EntryCode.MAX_END));
        }
        EntryCode.write(chunk, version, classNumber(object.storageClass()), inBlock == 0 ? 0 : blockMillis);
        chunk.array[blockStart] = (byte) ++inBlock;
        if (size++ == 0) {
            first = key.copy();
        }
        GrowingBytes swap = last;
        last = key;
        key = swap;
        if (inBlock == blockSize) {
            endBlock();
        }
    }

    /** Encodes the key, and returns the number of bytes that it shares with the last one. */
    private int shared(ObjectVersion version) {
        String text = version.key();
        key.clear();
        if (text.length() > MAX_KEY || version.etag().length() > EntryCode.MAX_ETAG) {
            throw new IllegalArgumentException("the key or ETag is too long: " + Printable.text(text));
        } else if (!key.putUtf8(text) || key.length > MAX_KEY) {
            throw new IllegalArgumentException("the key is not Unicode, or too long: " + Printable.text(text));
        } else if (size == 0) {
            return 0;
        }
        int shared = last.shared(key);
        boolean isBehind = shared < key.length
                && (shared == last.length || (last.array[shared] & 0xff) < (key.array[shared] & 0xff));
        if (!isBehind) {
            throw notInOrder(last, key);
        }
        return shared;
    }

    private static IllegalArgumentException notInOrder(GrowingBytes before, GrowingBytes after) {
        return new IllegalArgumentException(
                "keys are not in ascending order: '" + Printable.text(before.text(before.length)) + "', then '"
                        + Printable.text(after.text(after.length)) + "'");
    }

    private void beginBlock(ObjectVersion version) {
        if (blockCount == blocks.length) {
            blocks = Arrays.copyOf(blocks, blockCount * 2);
        }
        blockStart = chunk.length;
        blockMillis = version.lastModified().toEpochMilli();
        blocks[blockCount++] = ((long) chunks.size() << KeyTable.OFFSET_BITS) | blockStart;
        chunk.put(0); // the count
    }

    private void endBlock() {
        inBlock = 0;
        if (chunk.length >= CHUNK_SIZE) {
            endChunk();
        }
    }

    private void endChunk() {
        if (arena == null) {
            arena = NativeMemory.arena(NativeMemory.Share.NAMES);
        }
        MemorySegment memory = arena.allocate(chunk.length, 1);
        MemorySegment.copy(chunk.array, 0, memory, ValueLayout.JAVA_BYTE, 0, chunk.length);
        bytes += chunk.length;
        chunks.add(new Chunk(memory, storageClasses));
        chunk.clear();
    }

    private int classNumber(String storageClass) {
        if (!storageClass.equals(lastClass)) {
            lastClass = storageClass;
            lastClassNumber = classNumbers.computeIfAbsent(storageClass, added -> {
                storageClasses.add(added);
                return storageClasses.size() - 1;
            });
        }
        return lastClassNumber;
    }

    /** The position of the next entry: in a new block, unless one is started. */
    private long position() {
        return inBlock == 0
                ? (long) blockCount << KeyTable.INDEX_BITS
                : ((long) (blockCount - 1) << KeyTable.INDEX_BITS) | inBlock;
    }

    /** Ends adding, and frees the memory used for it. */
    void finish() {
        if (state == State.FINISHED) {
            return;
        }
        check(State.OPEN);
        long end = position();
        endBlock();
        if (chunk.length > 0) {
            endChunk();
        }
        // The joined builder begins a new block, and trailing pages without entries come before it.
        for (int i = pageCount - 1; i >= 0 && pageStarts[i] == end; i--) {
            pageStarts[i] = position();
        }
        state = State.FINISHED;
        chunk = new GrowingBytes(0);
        key = new GrowingBytes(0);
        blocks = Arrays.copyOf(blocks, blockCount);
    }

    /** Objects added. */
    long size() {
        return size;
    }

    /** The memory that the objects take so far, in bytes. */
    long bytes() {
        return bytes + chunk.length;
    }

    /** Frees the memory, unless a table has taken it over. */
    @Override
    public void close() {
        if (state == State.HANDED_OVER || state == State.CLOSED) {
            return;
        }
        state = State.CLOSED;
        if (arena != null) {
            arena.close();
            arena = null;
        }
    }

    // ---- for KeyTable.join, once finished

    int blockCount() {
        return blockCount;
    }

    int pageCount() {
        return pageCount;
    }

    List<Chunk> chunks() {
        return chunks;
    }

    void checkIsBefore(KeyTableBuilder next) {
        GrowingBytes after = new GrowingBytes(next.first.length);
        after.put(next.first, 0, next.first.length);
        if (last.compareTo(after) >= 0) {
            throw notInOrder(last, after);
        }
    }

    void copyBlocks(long[] to, int at, int firstChunk) {
        for (int i = 0; i < blockCount; i++) {
            to[at + i] = blocks[i] + ((long) firstChunk << KeyTable.OFFSET_BITS);
        }
    }

    void copyPages(long[] starts, long[] times, int at, int firstBlock) {
        for (int i = 0; i < pageCount; i++) {
            starts[at + i] = pageStarts[i] + ((long) firstBlock << KeyTable.INDEX_BITS);
            times[at + i] = pageTimes[i];
        }
    }

    void handOver(List<Arena> arenas) {
        if (arena != null) {
            arenas.add(arena);
        }
        state = State.HANDED_OVER;
    }

    private void check(State expected) {
        if (state != expected) {
            throw new IllegalStateException("this builder of a table is " + state);
        }
    }
}

package io.penstock.listing;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Objects of listings in the order of their keys' UTF-8: an immutable sorted table. Keys are front-coded in blocks:
 *
 * <pre>
 *   heap     blocks: a long each ────┐            pages: since which entry, as of when
 *                                    ▼
 *   native   chunks:  │ block │ block │ block │ …      none crosses the end of its chunk; or mapped, see KeyTableFile
 *                              ╱       ╲
 *            count │ key, object │ rest of key, object │ rest of key, object │ …
 * </pre>
 *
 * <p>A lookup is a binary search over the blocks, whose first keys are stored whole, and a scan of one block. No part
 * of an object is a Java object: 14 million objects whose keys have 50 characters with sequential numbers take some 30
 * bytes each.
 *
 * <p>A table that was opened from a {@link KeyTableFile} may turn out to be damaged when it is read. Then every reader
 * gets an UncheckedIOException whose cause is a {@link DamagedSnapshotException}.
 *
 * <p>Safe for use by any number of threads, each with its own {@linkplain #cursor cursors}.
 */
public final class KeyTable implements AutoCloseable {
    /** A block's address is its chunk's index, and its offset there in this many bits. */
    static final int OFFSET_BITS = 18;

    /** An entry's position is its block's index, and its index there in this many bits. */
    static final int INDEX_BITS = 6;

    /** Heap bytes of a chunk's Java objects: the chunk, its segment, the arena's record of it. */
    private static final int CHUNK_HEAP_BYTES = 160;

    private final Chunk[] chunks;
    private final long[] blocks;

    /** The position of each page's first entry, ascending. Pages without entries have equal positions. */
    private final long[] pageStarts;

    /** When each page was requested; there is at least one. */
    private final long[] pageTimes;

    private final long size;

    /** Null if this process created the chunks: they need no check. */
    private final @Nullable ChunkChecksums sums;

    private final List<Arena> arenas;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** @param storageClasses by their numbers in this chunk */
    record Chunk(MemorySegment memory, List<String> storageClasses) {}

    /**
     * @param sums the checksums of the chunks, each of which is checked before it is read; null for no checks
     * @param arenas the chunks' memory, closed with the table
     */
    KeyTable(
            Chunk[] chunks,
            long[] blocks,
            long[] pageStarts,
            long[] pageTimes,
            long size,
            @Nullable ChunkChecksums sums,
            List<Arena> arenas) {
        if (pageStarts.length == 0) {
            throw new IllegalArgumentException("a table needs a page, which has the time of its request");
        }
        this.chunks = chunks;
        this.blocks = blocks;
        this.pageStarts = pageStarts;
        this.pageTimes = pageTimes;
        this.size = size;
        this.sums = sums;
        this.arenas = arenas;
    }

    /**
     * Joins the contents of builders without encoding them again. The table takes over their memory, and the builders
     * must not be used again. If this throws, they are {@linkplain KeyTableBuilder#finish finished} and otherwise
     * unchanged.
     *
     * @param inOrder each with keys after those of the one before it, or without keys; at least one has a page
     * @throws IllegalArgumentException if keys are not in order
     */
    public static KeyTable join(List<KeyTableBuilder> inOrder) {
        List<Chunk> chunks = new ArrayList<>();
        int blockCount = 0;
        int pageCount = 0;
        long size = 0;
        KeyTableBuilder before = null;
        for (KeyTableBuilder builder : inOrder) {
            builder.finish();
            if (before != null && builder.size() > 0) {
                before.checkIsBefore(builder);
            }
            before = builder.size() > 0 ? builder : before;
            blockCount = Math.addExact(blockCount, builder.blockCount());
            pageCount = Math.addExact(pageCount, builder.pageCount());
        }
        long[] blocks = new long[blockCount];
        long[] pageStarts = new long[pageCount];
        long[] pageTimes = new long[pageCount];
        blockCount = 0;
        pageCount = 0;
        for (KeyTableBuilder builder : inOrder) {
            builder.copyBlocks(blocks, blockCount, chunks.size());
            builder.copyPages(pageStarts, pageTimes, pageCount, blockCount);
            chunks.addAll(builder.chunks());
            blockCount += builder.blockCount();
            pageCount += builder.pageCount();
            size += builder.size();
        }
        List<Arena> arenas = new ArrayList<>();
        KeyTable table = new KeyTable(chunks.toArray(Chunk[]::new), blocks, pageStarts, pageTimes, size, null, arenas);
        inOrder.forEach(builder -> builder.handOver(arenas));
        return table;
    }

    /** The number of objects. */
    public long size() {
        return size;
    }

    /**
     * Its memory, native and heap. A mapped file does not count: it is in the kernel's page cache, which yields to
     * other users.
     */
    public long bytes() {
        long bytes = (long) chunks.length * CHUNK_HEAP_BYTES
                + (long) Long.BYTES * (blocks.length + pageStarts.length + pageTimes.length);
        for (Chunk chunk : chunks) {
            bytes += chunk.memory.isMapped() ? 0 : chunk.memory.byteSize();
        }
        return bytes;
    }

    /** A reader, positioned before the first key. */
    public KeyCursor cursor() {
        return new KeyCursor(this);
    }

    /**
     * Reads all of it.
     *
     * @throws java.io.UncheckedIOException if it is damaged
     */
    public void check() {
        for (int i = 0; i < chunks.length; i++) {
            chunkAt(i);
        }
    }

    /** Frees the memory. From then on cursors throw IllegalStateException, at the latest at the next block. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            arenas.forEach(Arena::close);
        }
    }

    int blockCount() {
        return blocks.length;
    }

    long address(int block) {
        return blocks[block];
    }

    /** The chunk of a block. */
    Chunk chunk(int block) {
        return chunkAt((int) (blocks[block] >>> OFFSET_BITS));
    }

    int chunkCount() {
        return chunks.length;
    }

    Chunk chunkAt(int index) {
        Chunk chunk = chunks[index];
        if (sums != null) {
            sums.check(index, chunk.memory);
        }
        return chunk;
    }

    /** The offset of the block in its chunk. */
    int offset(int block) {
        return (int) blocks[block] & ((1 << OFFSET_BITS) - 1);
    }

    /** The block's bytes. */
    int length(int block) {
        int offset = offset(block);
        boolean isLast = block + 1 == blocks.length || offset(block + 1) <= offset;
        return (isLast ? (int) chunk(block).memory.byteSize() : offset(block + 1)) - offset;
    }

    public int pageCount() {
        return pageStarts.length;
    }

    long pageStart(int page) {
        return pageStarts[page];
    }

    public long pageTime(int page) {
        return pageTimes[page];
    }

    /** The page of the entry at a position. */
    int pageOf(long position) {
        int found = Arrays.binarySearch(pageStarts, position);
        int page = found < 0 ? -found - 2 : found;
        while (page + 1 < pageStarts.length && pageStarts[page + 1] == position) {
            page++; // the last of several, which has the entry
        }
        return Math.max(0, page);
    }
}

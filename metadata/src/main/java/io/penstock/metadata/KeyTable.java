package io.penstock.metadata;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Objects in the order of their keys' UTF-8, as listings brought them: a sorted table that does not change. Keys are
 * front-coded in blocks:
 *
 * <pre>
 *   heap     blocks: a long each ────┐            pages: since which entry, as of when
 *                                    ▼
 *   native   chunks:  │ block │ block │ block │ …      none crosses the end of its chunk; or mapped, see KeyTableFile
 *                              ╱       ╲
 *            count │ key, object │ rest of key, object │ rest of key, object │ …
 * </pre>
 *
 * <p>A key is found by a binary search over the blocks, whose first keys stand whole, and a walk through one. Nothing of an
 * object is a Java object: 14 million with keys of 50 characters, sequential numbers in them, take some 30 bytes each.
 *
 * <p>One that was opened from a {@link KeyTableFile} may turn out to be damaged when it is read: then whatever reads it
 * throws an UncheckedIOException whose cause is a {@link DamagedSnapshotException}.
 *
 * <p>Safe for use by any number of threads, each with {@linkplain #cursor cursors} of its own.
 */
final class KeyTable implements AutoCloseable {
    /** A block's address is its chunk's index, and its offset there in so many bits. */
    static final int OFFSET_BITS = 18;

    /** An entry's position is its block's index, and its index there in so many bits. */
    static final int INDEX_BITS = 6;

    /** What the objects of a chunk cost in heap: itself, its segment, the arena's note of it. */
    private static final int CHUNK_HEAP_BYTES = 160;

    private final Chunk[] chunks;
    private final long[] blocks;

    /** The positions from which on entries are of the page; ascending, some more than once: pages that brought nothing. */
    private final long[] pageStarts;

    /** When each page was asked for; there is at least one. */
    private final long[] pageTimes;

    private final long size;

    /** Null if the chunks were made here: they are known to be whole. */
    private final @Nullable ChunkSums sums;

    private final List<Arena> arenas;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** @param storageClasses by their numbers in this chunk */
    record Chunk(MemorySegment memory, List<String> storageClasses) {}

    /**
     * @param sums of the chunks, each of which is checked before it is read; null if there is nothing to be checked
     * @param arenas what the chunks' memory belongs to: closed with the table
     */
    KeyTable(
            Chunk[] chunks,
            long[] blocks,
            long[] pageStarts,
            long[] pageTimes,
            long size,
            @Nullable ChunkSums sums,
            List<Arena> arenas) {
        if (pageStarts.length == 0) {
            throw new IllegalArgumentException("a table must have been asked for at some time: it has no page");
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
     * Puts together what builders hold, without encoding it again. The table takes their memory over, and they are of no
     * more use; if it throws, they are as they were, but for being {@linkplain KeyTableBuilder#finish finished}.
     *
     * @param inOrder each with keys behind those of the one before it, or with none; one at least has a page
     * @throws IllegalArgumentException if keys are not in order
     */
    static KeyTable join(List<KeyTableBuilder> inOrder) {
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

    /** Objects in it. */
    long size() {
        return size;
    }

    /**
     * What it takes of memory, native and heap. What is mapped from a file does not count: it is the kernel's page cache,
     * which gives way to whoever needs memory.
     */
    long bytes() {
        long bytes = (long) chunks.length * CHUNK_HEAP_BYTES
                + (long) Long.BYTES * (blocks.length + pageStarts.length + pageTimes.length);
        for (Chunk chunk : chunks) {
            bytes += chunk.memory.isMapped() ? 0 : chunk.memory.byteSize();
        }
        return bytes;
    }

    /** A reader that stands before the first key. */
    KeyCursor cursor() {
        return new KeyCursor(this);
    }

    /** Frees the memory: from then on cursors throw IllegalStateException, at the latest where the next block begins. */
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

    /** Where in its chunk the block begins. */
    int offset(int block) {
        return (int) blocks[block] & ((1 << OFFSET_BITS) - 1);
    }

    /** The block's bytes. */
    int length(int block) {
        int offset = offset(block);
        boolean isLast = block + 1 == blocks.length || offset(block + 1) <= offset;
        return (isLast ? (int) chunk(block).memory.byteSize() : offset(block + 1)) - offset;
    }

    int pageCount() {
        return pageStarts.length;
    }

    long pageStart(int page) {
        return pageStarts[page];
    }

    long pageTime(int page) {
        return pageTimes[page];
    }

    /** The page of the entry at a position. */
    int pageOf(long position) {
        int found = Arrays.binarySearch(pageStarts, position);
        int page = found < 0 ? -found - 2 : found;
        while (page + 1 < pageStarts.length && pageStarts[page + 1] == position) {
            page++; // of several the last, which brought the entry
        }
        return Math.max(0, page);
    }
}

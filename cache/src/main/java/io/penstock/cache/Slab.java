package io.penstock.cache;

import io.penstock.cache.disk.PageGeometry;
import io.penstock.core.NativeMemory;
import io.penstock.disk.DirectIo;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One page's worth of direct memory, handed out whole or in aligned halves, quarters, … down to 16 KiB, so that a small
 * object does not take a whole page's memory. Guarded by {@link PageMemory}'s lock.
 */
final class Slab {
    /** The smallest chunk; a page has 64 of them, one for each bit of a long. */
    static final int LEAF_SIZE = PageGeometry.PAGE_SIZE / Long.SIZE;

    private final ByteBuffer memory =
            NativeMemory.allocate(NativeMemory.Share.PAGES, PageGeometry.PAGE_SIZE, DirectIo.ALIGNMENT);

    private final long address = MemorySegment.ofBuffer(memory).address();

    /** One bit per leaf; set if the leaf is free. */
    private long free = -1;

    /** Chunks with a busy page: handed out, and not kept. */
    private int busy;

    /**
     * A chunk of a slab.
     *
     * @param leaves the bits of its leaves
     * @param memory its bytes: aligned, position 0, limit its size
     * @param address the memory's native address
     */
    record Chunk(Slab slab, long leaves, ByteBuffer memory, long address) {
        int size() {
            return memory.capacity();
        }
    }

    /** The memory for a page of this many bytes: the next power of two, at least a leaf. */
    static int sizeFor(int bytes) {
        return Math.max(LEAF_SIZE, Integer.highestOneBit(Math.max(1, bytes - 1)) << 1);
    }

    /** @param size as returned by {@link #sizeFor} */
    @Nullable
    Chunk allocate(int size) {
        int count = size / LEAF_SIZE;
        long run = count == Long.SIZE ? -1 : (1L << count) - 1;
        for (int first = 0; first < Long.SIZE; first += count) {
            long leaves = run << first;
            if ((free & leaves) == leaves) {
                free &= ~leaves;
                int start = first * LEAF_SIZE;
                return new Chunk(this, leaves, memory.slice(start, size), address + start);
            }
        }
        return null;
    }

    void free(Chunk chunk) {
        if ((free & chunk.leaves) != 0) {
            throw new IllegalStateException("memory of a page was given back twice");
        }
        free |= chunk.leaves;
    }

    void addBusy(int chunks) {
        busy += chunks;
    }

    /** Whether all of its memory can be reclaimed immediately: it is free, or belongs to kept pages. */
    boolean isIdle() {
        return busy == 0;
    }

    boolean isWhole() {
        return free == -1;
    }

    boolean isExhausted() {
        return free == 0;
    }
}

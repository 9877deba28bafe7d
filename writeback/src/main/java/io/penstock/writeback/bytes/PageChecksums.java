package io.penstock.writeback.bytes;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static io.penstock.writeback.content.Block.BLOCK_SIZE;

import io.penstock.core.Crc32c;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockBuffer;
import io.penstock.writeback.content.BlockMap;
import io.penstock.writeback.content.Segment;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The checksums of one file's pages. Each is computed once, when its block is staged or uploaded, whichever comes
 * first. Safe for use by any number of threads.
 */
final class PageChecksums {
    private static final int ZERO_PAGE_CHECKSUM = Crc32c.of(ByteBuffer.allocate(PAGE_SIZE));

    private final FileBytes live;

    PageChecksums(FileBytes live) {
        this.live = live;
    }

    /** CRC32C of the page, or of its part before the end of the snapshot. */
    public int checksum(Snapshot snapshot, long start, int length)
            throws ObjectStoreException, IOException, InterruptedException {
        Block block;
        BlockBuffer memory;
        int page = (int) (start % BLOCK_SIZE / PAGE_SIZE);
        live.lock().lock();
        try {
            block = snapshot.content().block(BlockMap.indexOf(start));
            Segment segment = snapshot.content().at(start, start + length);
            if (length == PAGE_SIZE && segment.source() == Segment.Source.HOLE && segment.end() == start + length) {
                return ZERO_PAGE_CHECKSUM;
            }
            memory = length < PAGE_SIZE && segment.end() == start + length ? pinned(segment) : null;
        } finally {
            live.lock().unlock();
        }
        if (memory != null) {
            return checksum(memory, page, length);
        }
        if (block != null && length == PAGE_SIZE && compute(block, page)) {
            return block.checksum(page); // final, because the block is held
        }
        ByteBuffer bytes = ByteBuffer.allocate(length);
        live.reads().read(snapshot, start, bytes);
        int checksum = Crc32c.of(bytes.flip());
        if (block != null && length == PAGE_SIZE) {
            live.lock().lock();
            try {
                if (block.data().covers(start, start + length)) {
                    block.setChecksum(page, checksum);
                }
            } finally {
                live.lock().unlock();
            }
        }
        return checksum;
    }

    /** The memory with the bytes of the segment; null if they are elsewhere. */
    private static @Nullable BlockBuffer pinned(Segment segment) {
        Block block = segment.source() == Segment.Source.MEMORY ? segment.block() : null;
        BlockBuffer memory = block == null ? null : block.buffer();
        if (memory != null) {
            memory.pin();
        }
        return memory;
    }

    /** CRC32C of the last bytes of a snapshot in pinned memory. */
    private int checksum(BlockBuffer pinned, int page, int length) {
        try {
            return Crc32c.of(pinned.bytes().slice(page * PAGE_SIZE, length));
        } finally {
            live.locked(pinned::unpin);
        }
    }

    /** Computes the checksum of a page of the block from memory. False if memory lacks part of the page. */
    public boolean compute(Block block, int page) {
        long start = block.start() + (long) page * PAGE_SIZE;
        BlockBuffer source;
        int version;
        live.lock().lock();
        try {
            if (block.hasChecksum(page)) {
                return true;
            }
            BlockBuffer memory = block.buffer();
            if (memory == null || !block.inMemory().covers(start, start + PAGE_SIZE)) {
                return false;
            }
            source = memory;
            source.pin();
            version = block.version();
        } finally {
            live.lock().unlock();
        }
        int checksum = Crc32c.of(source.bytes().slice(page * PAGE_SIZE, PAGE_SIZE));
        live.lock().lock();
        try {
            source.unpin();
            boolean current = version == block.version();
            if (current) {
                block.setChecksum(page, checksum);
            }
            return current;
        } finally {
            live.lock().unlock();
        }
    }
}

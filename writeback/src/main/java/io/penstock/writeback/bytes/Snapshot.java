package io.penstock.writeback.bytes;

import static io.penstock.cache.PageCache.PAGE_SIZE;

import io.penstock.core.ByteRange;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockMap;
import io.penstock.writeback.content.Crc32cJoin;
import io.penstock.writeback.upload.FileContent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.OptionalInt;

/** An unchanging range of a file, from the start of a page. */
public final class Snapshot implements FileContent.SnapshotBody {
    private final FileBytes file;
    private final BlockMap content;
    private final BaseLayer layer;
    private final ByteRange range;
    private OptionalInt crc32c = OptionalInt.empty(); // set before others see it

    /**
     * @param content held by the caller; this releases it
     * @param layer in use by the caller; this releases it
     */
    public Snapshot(FileBytes file, BlockMap content, BaseLayer layer, ByteRange range) {
        this.file = file;
        this.content = content;
        this.layer = layer;
        this.range = range;
    }

    /** Guarded by the file's lock. */
    public BlockMap content() {
        return content;
    }

    public BaseLayer layer() {
        return layer;
    }

    /** Bytes of the whole file in this snapshot. */
    public long size() {
        return content.size();
    }

    /** Computes the checksum from those of the pages. */
    public Snapshot summed() throws IOException, InterruptedException {
        int sum = 0;
        try {
            for (long start = range.offset(); start < range.end(); start += PAGE_SIZE) {
                int length = (int) Math.min(PAGE_SIZE, range.end() - start);
                sum = Crc32cJoin.join(sum, file.sums().checksum(this, start, length), length);
            }
        } catch (ObjectStoreException e) {
            throw unreadable(e);
        }
        crc32c = OptionalInt.of(sum);
        return this;
    }

    /** An IOException, so that it is not taken for the store's response to the upload. */
    private static IOException unreadable(ObjectStoreException cause) {
        return new IOException("the version below the written bytes cannot be read: " + cause.getMessage(), cause);
    }

    /** The pages that were written as a whole. */
    public BitSet wholePages() {
        return file.locked(() -> {
            BitSet whole = new BitSet();
            for (Block block : content.blocks()) {
                for (long start = block.start(); start < Math.min(block.end(), size()); start += PAGE_SIZE) {
                    if (block.data().covers(start, Math.min(start + PAGE_SIZE, size()))) {
                        whole.set(Math.toIntExact(start / PAGE_SIZE));
                    }
                }
            }
            return whole;
        });
    }

    /** CRC32C of the page within the range. */
    public int checksum(int page) throws ObjectStoreException, IOException, InterruptedException {
        long start = (long) page * PAGE_SIZE;
        return file.sums().checksum(this, start, (int) Math.min(PAGE_SIZE, range.end() - start));
    }

    /** @param position in the file */
    public void readAt(long position, ByteBuffer to) throws ObjectStoreException, IOException, InterruptedException {
        file.reads().read(this, position, to);
    }

    /** Writes the blocks that are only in memory to the staging file. False if that is impossible now. */
    public boolean stageAll() throws IOException, InterruptedException {
        return file.staging().stageAll(this);
    }

    /** The data file is about to belong to the cache: from now on only this snapshot reads it. */
    public void retire() {
        file.locked(layer::retire);
    }

    @Override
    public long length() {
        return range.length();
    }

    @Override
    public OptionalInt crc32c() {
        return crc32c;
    }

    @Override
    public void read(long offset, ByteBuffer target) throws IOException, InterruptedException {
        try {
            readAt(range.offset() + offset, target);
        } catch (ObjectStoreException e) {
            throw unreadable(e);
        }
    }

    @Override
    public void sent() {
        file.staging().sent(this);
    }

    @Override
    public void close() {
        file.release(this);
    }
}

package io.penstock.writeback.upload;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.testing.Bodies;
import io.penstock.writeback.content.Crc32cJoin;
import io.penstock.writeback.content.Run;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Content of any size, of which only checksums exist: all pages are the same. Everything after {@code keptEnd}, a
 * multiple of the block size, was written; everything before belongs to the version below.
 */
record MadeUpFile(@Nullable ObjectVersion base, long keptEnd) implements FileContent {
    private static final int PAGE = 1 << 20;
    private static final int PAGE_CRC = Bodies.crc32c(new byte[PAGE]);

    /** The checksum of the first {@code length} bytes. */
    public static int crc32c(long length) {
        int crc = 0;
        long done = 0;
        for (long pages = length / PAGE; done < pages; ) { // doubled while it fits
            long twice = Math.min(done == 0 ? 1 : done, pages - done);
            int more = done == 0 ? PAGE_CRC : twice == done ? crc : crc32c(twice * PAGE);
            crc = Crc32cJoin.join(crc, more, twice * PAGE);
            done += twice;
        }
        int rest = (int) (length % PAGE);
        return Crc32cJoin.join(crc, Bodies.crc32c(new byte[rest]), rest);
    }

    @Override
    public List<Run> runs(ByteRange within) {
        Run whole = Run.sent(within);
        if (base == null || within.offset() >= keptEnd) {
            return List.of(whole);
        }
        Run kept = new Run(within, base);
        return keptEnd >= within.end()
                ? List.of(kept)
                : List.of(kept.between(within.offset(), keptEnd), whole.between(keptEnd, within.end()));
    }

    @Override
    public SnapshotBody body(ByteRange range) {
        return new SnapshotBody() {
            @Override
            public long length() {
                return range.length();
            }

            @Override
            public OptionalInt crc32c() {
                return OptionalInt.of(MadeUpFile.crc32c(range.length()));
            }

            @Override
            public void read(long offset, ByteBuffer target) {
                throw new UnsupportedOperationException("there are no bytes, only a checksum");
            }

            @Override
            public void sent() {}

            @Override
            public void close() {}
        };
    }

    /** Notifies the upload, block by block, that everything up to the size was written. */
    public void writeAll(FileUpload to, long size) {
        for (long at = keptEnd; at < size; at += BLOCK_SIZE) {
            ByteRange block = new ByteRange(at, Math.min(BLOCK_SIZE, size - at));
            to.changed(block);
            if (block.length() == BLOCK_SIZE) {
                to.ready(block);
            }
        }
    }
}

package io.penstock.fuse.table;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/** Reads the records of a {@link TableLog}, which another thread may be writing. */
final class TableRecords {
    private TableRecords() {}

    /** Receives the bytes of a record; valid during the call. */
    interface Sink {
        void accept(ByteBuffer record) throws IOException;
    }

    /**
     * Passes on the records from one offset in the file up to another, or up to the last one.
     *
     * @param from 0, or an offset that this method or {@link TableLog#end} has returned
     * @param isChecked whether another process has written them: then their checksums are compared
     * @return where they end
     * @throws DamagedTableException if a record is not as it was written
     */
    static long read(Path file, long from, long upTo, boolean isChecked, Sink sink) throws IOException {
        CRC32C sum = new CRC32C();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
                Arena arena = Arena.ofConfined()) {
            long size = channel.size();
            if (size < TableLog.CHUNK) { // the last chunk may be in the making
                throw new DamagedTableException(file, "it has " + size + " bytes");
            }
            long start = from / TableLog.CHUNK * TableLog.CHUNK;
            int at = (int) (from - start);
            while (true) {
                ByteBuffer chunk = channel.map(MapMode.READ_ONLY, start, TableLog.CHUNK, arena)
                        .asByteBuffer()
                        .order(ByteOrder.nativeOrder());
                if (start == 0) {
                    if (chunk.getLong(0) != TableLog.MAGIC) {
                        throw new DamagedTableException(file, "it does not begin as a table of this version");
                    }
                    at = Math.max(at, TableLog.FIRST);
                }
                int length;
                while ((length = (int) TableLog.LENGTH.getAcquire(chunk, at)) > 0 && start + at < upTo) {
                    int end = at + TableLog.FRAME + length;
                    if (end > TableLog.CHUNK) {
                        throw new DamagedTableException(file, "the record at " + (start + at) + " is too long");
                    }
                    ByteBuffer record = chunk.slice(at + TableLog.FRAME, length).order(ByteOrder.nativeOrder());
                    if (isChecked && chunk.getInt(at + Integer.BYTES) != TableLog.checksum(sum, record)) {
                        throw new DamagedTableException(file, "the record at " + (start + at) + " is not valid");
                    }
                    sink.accept(record.rewind());
                    at = TableLog.aligned(end);
                }
                if (length != TableLog.PADDING || start + at >= upTo) {
                    if (length < TableLog.PADDING) {
                        throw new DamagedTableException(file, "the record at " + (start + at) + " is not valid");
                    }
                    return start + at;
                }
                start += TableLog.CHUNK;
                at = 0;
                if (start + TableLog.CHUNK > size) {
                    throw new DamagedTableException(file, "it ends at " + size);
                }
            }
        }
    }
}

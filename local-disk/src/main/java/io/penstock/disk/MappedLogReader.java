package io.penstock.disk;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/** Reads the records of a {@link MappedLog}, which another thread may be writing. */
public final class MappedLogReader {
    private MappedLogReader() {}

    /** Receives the bytes of a record; valid during the call. */
    public interface Sink {
        void accept(ByteBuffer record) throws IOException;
    }

    /**
     * Passes on the records from one offset in the log up to another, or up to the last one.
     *
     * @param origin where the log begins in the file
     * @param from 0, or an offset that this method or {@link MappedLog#end} has returned
     * @param isChecked whether another process has written them: then their checksums are compared
     * @return where they end
     * @throws DamagedLogException if a record is not as it was written
     */
    public static long read(Path file, long origin, long from, long upTo, boolean isChecked, Sink sink)
            throws IOException {
        CRC32C sum = new CRC32C();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
                Arena arena = Arena.ofConfined()) {
            long size = channel.size() - origin;
            if (size < MappedLog.CHUNK) { // the last chunk may be in the making
                throw new DamagedLogException(file, "it has " + Math.max(0, size) + " bytes");
            }
            long start = from / MappedLog.CHUNK * MappedLog.CHUNK;
            int at = (int) (from - start);
            while (true) {
                ByteBuffer chunk = channel.map(MapMode.READ_ONLY, origin + start, MappedLog.CHUNK, arena)
                        .asByteBuffer()
                        .order(ByteOrder.nativeOrder());
                if (start == 0) {
                    if (chunk.getLong(0) != MappedLog.MAGIC) {
                        throw new DamagedLogException(file, "it does not begin as a log of this version");
                    }
                    at = Math.max(at, MappedLog.FIRST);
                }
                int length;
                while ((length = (int) MappedLog.LENGTH.getAcquire(chunk, at)) > 0 && start + at < upTo) {
                    int end = at + MappedLog.FRAME + length;
                    if (end > MappedLog.CHUNK) {
                        throw new DamagedLogException(file, "the record at " + (start + at) + " is too long");
                    }
                    ByteBuffer record =
                            chunk.slice(at + MappedLog.FRAME, length).order(ByteOrder.nativeOrder());
                    if (isChecked && chunk.getInt(at + Integer.BYTES) != MappedLog.checksum(sum, record)) {
                        throw new DamagedLogException(file, "the record at " + (start + at) + " is not valid");
                    }
                    sink.accept(record.rewind());
                    at = MappedLog.aligned(end);
                }
                if (length != MappedLog.PADDING || start + at >= upTo) {
                    if (length < MappedLog.PADDING) {
                        throw new DamagedLogException(file, "the record at " + (start + at) + " is not valid");
                    }
                    return start + at;
                }
                start += MappedLog.CHUNK;
                at = 0;
                if (start + MappedLog.CHUNK > size) {
                    throw new DamagedLogException(file, "it ends at " + size);
                }
            }
        }
    }
}

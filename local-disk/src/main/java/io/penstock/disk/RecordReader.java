package io.penstock.disk;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** Reads the frames of a {@link RecordLog}, a piece of the file at a time: only one record has to fit into memory. For one thread. */
final class RecordReader {
    private static final int PIECE_BYTES = 1 << 20;

    /** Of a record: more is damage. The CRC32C of as many zeros as an int counts would be that of none. */
    private static final int MAX_LENGTH = 1 << 30;

    private final DataFile file;
    private final long size;

    /** The bytes that were read last, and where they lie. */
    private final ByteBuffer piece = ByteBuffer.allocate(PIECE_BYTES).limit(0);

    private long pieceStart;

    RecordReader(DataFile file) throws IOException {
        this.file = file;
        this.size = file.length();
    }

    /** Of the file, in bytes. */
    long size() {
        return size;
    }

    /** Whether the file begins with this. One that is too short begins with zero. */
    boolean begins(long magic) throws IOException {
        return (size < Long.BYTES ? 0 : read(0, Long.BYTES).getLong()) == magic;
    }

    /** The bytes in the frame at this position, their number with them if they have one; null if the frame does not hold. */
    byte @Nullable [] record(long position) throws IOException {
        if (size - position < RecordLog.FRAME) {
            return null;
        }
        ByteBuffer frame = read(position, RecordLog.FRAME);
        int length = frame.getInt();
        int checksum = frame.getInt();
        long start = position + RecordLog.FRAME;
        boolean holds =
                length > 0 && length <= Math.min(MAX_LENGTH, size - start) && checksumOf(start, length) == checksum;
        return holds ? bytes(start, length) : null;
    }

    /**
     * Whether a mark behind this position says that the record of this number, which should be there and is not, was
     * durable.
     *
     * @param searched how far to look, in bytes
     */
    boolean wasDurable(long position, int number, long searched) throws IOException {
        long end = Math.min(size, position + searched);
        for (long at = position; at + RecordLog.FRAMED_MARK <= end; ) {
            ByteBuffer some = read(at, Math.toIntExact(Math.min(PIECE_BYTES, end - at)));
            int tried = some.remaining() - RecordLog.FRAMED_MARK + 1;
            for (int i = 0; i < tried; i++) {
                if (some.getInt(i) == RecordLog.MARK_LENGTH
                        && saysDurable(some.slice(i, RecordLog.FRAMED_MARK), number)) {
                    return true;
                }
            }
            at += tried;
        }
        return false;
    }

    private static boolean saysDurable(ByteBuffer frame, int number) {
        frame.getInt();
        int checksum = frame.getInt();
        return RecordLog.checksumOf(frame.duplicate()) == checksum
                && frame.getInt() > number
                && frame.get() == RecordLog.MARK
                && frame.getInt() > number;
    }

    private int checksumOf(long start, int length) throws IOException {
        CRC32C checksum = new CRC32C();
        for (int done = 0; done < length; ) {
            ByteBuffer some = read(start + done, length - done);
            done += some.remaining();
            checksum.update(some);
        }
        return (int) checksum.getValue();
    }

    private byte[] bytes(long start, int length) throws IOException {
        byte[] bytes = new byte[length];
        for (int done = 0; done < length; ) {
            ByteBuffer some = read(start + done, length - done);
            int read = some.remaining();
            some.get(bytes, done, read);
            done += read;
        }
        return bytes;
    }

    /** So many bytes, or as many as a piece has. */
    private ByteBuffer read(long position, int length) throws IOException {
        int wanted = Math.min(length, PIECE_BYTES);
        if (position < pieceStart || position + wanted > pieceStart + piece.limit()) {
            file.read(position, piece.clear());
            piece.flip();
            pieceStart = position;
            if (piece.limit() < wanted) {
                throw new EOFException("the log has become shorter than " + size);
            }
        }
        return piece.slice(Math.toIntExact(position - pieceStart), wanted);
    }
}

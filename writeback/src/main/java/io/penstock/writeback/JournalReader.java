package io.penstock.writeback;

import io.penstock.disk.DataFile;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** Reads a journal from its start to its end, a piece at a time: only one record has to fit into memory. For one thread. */
final class JournalReader {
    private static final int PIECE_BYTES = 1 << 20;

    /** How far behind a record that does not hold others are looked for: journals are shortened long before. */
    private static final long SEARCHED_BYTES = 4 * Journal.LARGE_BYTES;

    private final DataFile file;
    private final long size;

    /** What was read last, and where. */
    private final ByteBuffer piece = ByteBuffer.allocate(PIECE_BYTES).limit(0);

    private long pieceStart;

    JournalReader(DataFile file) throws IOException {
        this.file = file;
        this.size = file.length();
    }

    /** Whether the file begins with this. One that is too short begins with zero. */
    boolean begins(long magic) throws IOException {
        return (size < Long.BYTES ? 0 : read(0, Long.BYTES).getLong()) == magic;
    }

    /** The record of this number, without its frame; null if what is there is not that. */
    byte @Nullable [] record(long position, int number) throws IOException {
        if (size - position < Journal.FRAME) {
            return null;
        }
        ByteBuffer frame = read(position, Journal.FRAME);
        int length = frame.getInt();
        int checksum = frame.getInt();
        long start = position + 2 * Integer.BYTES;
        boolean holds = length >= Integer.BYTES
                && length <= size - start
                && frame.getInt() == number
                && checksumOf(start, length) == checksum;
        return holds ? bytes(start + Integer.BYTES, length - Integer.BYTES) : null;
    }

    /**
     * Whether a record behind this position says that the record of this number, which should be there and is not, was
     * durable.
     */
    boolean wasDurable(long position, int number) throws IOException {
        long searched = Math.min(size, position + SEARCHED_BYTES);
        int length = JournalRecord.Synced.LENGTH;
        int framed = Journal.FRAME + length;
        for (long at = position; at + framed <= searched; ) {
            ByteBuffer some = read(at, Math.toIntExact(Math.min(PIECE_BYTES, searched - at)));
            int tried = some.remaining() - framed + 1;
            for (int i = 0; i < tried; i++) {
                if (some.getInt(i) == Integer.BYTES + length && saysDurable(some.slice(i, framed), number)) {
                    return true;
                }
            }
            at += tried;
        }
        return false;
    }

    private static boolean saysDurable(ByteBuffer frame, int number) {
        int checksum = frame.getInt(Integer.BYTES);
        int own = frame.getInt(2 * Integer.BYTES);
        CRC32C actual = new CRC32C();
        actual.update(frame.duplicate().position(2 * Integer.BYTES));
        return own > number
                && (int) actual.getValue() == checksum
                && frame.get(Journal.FRAME) == JournalRecord.Synced.TYPE
                && frame.getInt(Journal.FRAME + 1) > number;
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

    /** Bytes there: so many, or as many as a piece has. */
    private ByteBuffer read(long position, int length) throws IOException {
        int wanted = Math.min(length, PIECE_BYTES);
        if (position < pieceStart || position + wanted > pieceStart + piece.limit()) {
            file.read(position, piece.clear());
            piece.flip();
            pieceStart = position;
            if (piece.limit() < wanted) {
                throw new EOFException("the journal has become shorter than " + size);
            }
        }
        return piece.slice(Math.toIntExact(position - pieceStart), wanted);
    }
}

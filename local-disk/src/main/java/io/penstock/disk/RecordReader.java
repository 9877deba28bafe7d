package io.penstock.disk;

import io.penstock.core.Crc32c;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the records of a {@link RecordLog} piece by piece, so only one record must fit in memory. For one thread. */
final class RecordReader<R> {
    private static final Logger log = LoggerFactory.getLogger(RecordReader.class);

    private static final int PIECE_BYTES = 1 << 20;

    /** Maximum length of a record; more means damage. Integer.MAX_VALUE zeros would have the CRC32C of no bytes. */
    private static final int MAX_LENGTH = 1 << 30;

    private final DataFile file;
    private final RecordLog.Format<R> format;
    private final long size;

    /** The bytes that were read last, and their position. */
    private final ByteBuffer piece = ByteBuffer.allocate(PIECE_BYTES).limit(0);

    private long pieceStart;

    private int count;
    private long end;

    RecordReader(DataFile file, RecordLog.Format<R> format) throws IOException {
        this.file = file;
        this.format = format;
        this.size = file.length();
    }

    /** The file's size in bytes. */
    long size() {
        return size;
    }

    /** The number of records read, including marks. */
    int count() {
        return count;
    }

    /** The end of the last record; 0 if the file is not a log of this format. */
    long end() {
        return end;
    }

    /** Passes on the records before the first invalid one: see {@link RecordLog#replay}. */
    void read(Consumer<R> records) throws IOException {
        try {
            readAll(records);
        } catch (IOException e) {
            if (format.durable()) {
                throw e instanceof RecordLog.UnreadableException || e instanceof ClosedChannelException
                        ? e
                        : new RecordLog.UnreadableException("it cannot be read from byte " + end + " on", e);
            }
            log.warn("A log cannot be read from byte {} on, so it ends there", end, e);
        }
    }

    private void readAll(Consumer<R> records) throws IOException {
        if (begins(format.magic())) {
            end = Long.BYTES;
            for (byte[] next = record(end); next != null && accept(next, records); next = record(end)) {
                count++;
                end += RecordLog.FRAME + next.length;
            }
        } else if (format.durable() && !begins(0)) { // a crash leaves zeros in a new file
            throw new RecordLog.UnreadableException("it has no header of this version");
        }
        if (format.durable() && wasNextDurable()) {
            throw new RecordLog.UnreadableException("its record " + count + ", at byte " + end + ", is damaged");
        }
    }

    /** Returns false if the record is not the next one. */
    private boolean accept(byte[] framed, Consumer<R> records) throws RecordLog.UnreadableException {
        int start = format.durable() ? Integer.BYTES : 0;
        if (format.durable()) {
            if (framed.length <= start || ByteBuffer.wrap(framed).getInt() != count) {
                return false;
            }
            if (framed[start] == RecordLog.MARK) {
                return true;
            }
        }
        R record;
        try {
            record = format.decoder()
                    .decode(new DataInputStream(new ByteArrayInputStream(framed, start, framed.length - start)));
        } catch (IOException | IllegalArgumentException e) {
            if (!format.durable()) {
                return false;
            }
            throw new RecordLog.UnreadableException("its record " + count + " is of a later version", e);
        }
        records.accept(record);
        return true;
    }

    /** Whether the file begins with this. A file that is too short counts as beginning with zero. */
    private boolean begins(long magic) throws IOException {
        return (size < Long.BYTES ? 0 : read(0, Long.BYTES).getLong()) == magic;
    }

    /** The bytes in the frame at this position, including the number if they have one; null if the frame is invalid. */
    private byte @Nullable [] record(long position) throws IOException {
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

    /** Whether a mark past the end shows that the next record, which is missing or damaged, was durable. */
    private boolean wasNextDurable() throws IOException {
        long searched = Math.min(size, end + 4 * format.compactBytes()); // a log is compacted well before that
        for (long at = end; at + RecordLog.FRAMED_MARK <= searched; ) {
            ByteBuffer some = read(at, Math.toIntExact(Math.min(PIECE_BYTES, searched - at)));
            int tried = some.remaining() - RecordLog.FRAMED_MARK + 1;
            for (int i = 0; i < tried; i++) {
                if (some.getInt(i) == RecordLog.MARK_LENGTH && saysDurable(some.slice(i, RecordLog.FRAMED_MARK))) {
                    return true;
                }
            }
            at += tried;
        }
        return false;
    }

    private boolean saysDurable(ByteBuffer frame) {
        frame.getInt();
        int checksum = frame.getInt();
        return Crc32c.of(frame) == checksum
                && frame.getInt() > count
                && frame.get() == RecordLog.MARK
                && frame.getInt() > count;
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

    /** This many bytes, or as many as fit in a piece. */
    private ByteBuffer read(long position, int length) throws IOException {
        int wanted = Math.min(length, PIECE_BYTES);
        if (position < pieceStart || position + wanted > pieceStart + piece.limit()) {
            fill(position, wanted);
            if (piece.limit() < wanted) {
                throw new EOFException("the log was cut off while it was being read: it had " + size + " bytes");
            }
        }
        return piece.slice(Math.toIntExact(position - pieceStart), wanted);
    }

    private void fill(long position, int wanted) throws IOException {
        pieceStart = position;
        piece.clear();
        try {
            file.read(position, piece);
        } catch (IOException e) {
            if (piece.position() < wanted) { // else the bad sector is beyond the wanted bytes
                throw e;
            }
        } finally {
            piece.flip();
        }
    }
}

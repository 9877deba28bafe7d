package io.penstock.disk;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.Crc32c;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file of records, one after another. Each is preceded by its length and CRC32C, 4 bytes each; the CRC covers the
 * bytes after it. The first invalid record ends the log: a crash or a failed write leaves half a record. When most
 * records are superseded, the log is {@linkplain #compact compacted}.
 *
 * <p>A {@linkplain Format#durable durable} log must not lose {@linkplain #force forced} records. Its records are
 * numbered, in the first 4 bytes that the CRC covers, and a record out of sequence is invalid too. Each {@code force}
 * appends a mark with the number of durable records. A mark past the end shows that the record there was durable and is
 * damaged, rather than torn by a crash. A log that is not durable ends at the first unreadable record.
 *
 * <p>Safe for use by any number of threads. A file has one end and so one lock: the monitor, which is held across the
 * write that it orders, and across all writes of a compaction.
 */
public final class RecordLog<R> implements AutoCloseable {
    /** The suffix of a file that will replace a log. */
    public static final String DRAFT = ".new";

    /** Length and CRC32C. */
    static final int FRAME = 2 * Integer.BYTES;

    /** The first byte of a mark, after its number. No other record of a durable log begins with it. */
    static final byte MARK = 3;

    /** Number, {@link #MARK} and the count of durable records. */
    static final int MARK_LENGTH = Integer.BYTES + 1 + Integer.BYTES;

    static final int FRAMED_MARK = FRAME + MARK_LENGTH;

    /** How many bytes of records are written per call when the log is compacted. */
    private static final int BATCH_BYTES = 64 << 10;

    private static final Logger log = LoggerFactory.getLogger(RecordLog.class);

    private final DataFolder files;
    private final String name;
    private final Format<R> format;

    /** Written under the monitor, like {@link #draft}; {@link #close} reads it without, so as not to wait. */
    private volatile @Nullable DataFile file;

    private volatile @Nullable RecordLog<R> draft;
    private volatile boolean closed;

    @GuardedBy("this")
    private long end;

    /** Encoded records not yet written to the file, at {@link #end}. */
    @GuardedBy("this")
    private final ByteArrayOutputStream unwritten = new ByteArrayOutputStream();

    @GuardedBy("this")
    private int unwrittenRecords;

    /** The number of records, including marks. */
    @GuardedBy("this")
    private int count;

    /** How many of them are known to be durable. */
    @GuardedBy("this")
    private int durable;

    /** There may be half a record past the end, which must be cut off before anything is appended. */
    @GuardedBy("this")
    private boolean torn;

    /** The length from which the log should be compacted. */
    @GuardedBy("this")
    private long large;

    private RecordLog(DataFolder files, String name, Format<R> format, DataFile file) {
        this.files = files;
        this.name = name;
        this.format = format;
        this.file = file;
        this.large = format.compactBytes();
    }

    /**
     * The format of a log.
     *
     * @param magic its first eight bytes, which identify the format and its version
     * @param durable whether it must not lose forced records
     * @param compactBytes a shorter log is not worth compacting
     */
    public record Format<R>(long magic, boolean durable, long compactBytes, Encoder<R> encoder, Decoder<R> decoder) {}

    /** Writes a record. */
    public interface Encoder<R> {
        void encode(R record, DataOutputStream to) throws IOException;
    }

    /** Reads a record; throws IOException or IllegalArgumentException if this version does not know it. */
    public interface Decoder<R> {
        R decode(DataInputStream from) throws IOException;
    }

    /** Receives records. */
    public interface Sink<R> {
        void add(R record) throws IOException;
    }

    /** Supplies records. */
    public interface Source<R> {
        void writeTo(Sink<R> to) throws IOException;
    }

    /** A durable log is damaged, or of a later version. The message is the second half of a sentence. */
    public static final class UnreadableException extends IOException {
        private static final long serialVersionUID = 1L;

        UnreadableException(String message) {
            super(message);
        }

        UnreadableException(String message, Exception cause) {
            super(message + ": " + cause.getMessage(), cause);
        }
    }

    /** Creates the file of a new log. */
    public static <R> RecordLog<R> create(DataFolder files, String name, Format<R> format) throws IOException {
        return new RecordLog<>(files, name, format, files.create(name));
    }

    /** Opens the file of a log, which must be {@linkplain #replay replayed} before anything is appended. */
    public static <R> RecordLog<R> open(DataFolder files, String name, Format<R> format) throws IOException {
        return new RecordLog<>(files, name, format, files.open(name));
    }

    /**
     * Passes on the records of an earlier run; new records follow the last of them.
     *
     * @throws UnreadableException if a durable record cannot be read; the records before it have been passed on
     */
    public synchronized void replay(Consumer<R> records) throws IOException {
        RecordReader<R> reader = new RecordReader<>(file(), format);
        reader.read(records);
        count = reader.count();
        end = reader.end();
        torn = end < reader.size();
        if (torn) {
            log.info(
                    "The last {} bytes of the log {} are not used: they contain no complete records, as after a"
                            + " crash, or cannot be read.",
                    reader.size() - end,
                    name);
        }
    }

    /** Passes on all records again. */
    public synchronized void reread(Consumer<R> records) throws IOException {
        RecordReader<R> reader = new RecordReader<>(file(), format);
        reader.read(records);
        if (reader.count() < count) {
            throw new IOException("the log cannot be read: " + name);
        }
    }

    /** @throws IOException if the record was not written, or the log is closed: then no part of it remains */
    public synchronized void append(R record) throws IOException {
        checkOpen();
        add(to -> format.encoder().encode(record, to));
        flush();
    }

    private interface Body {
        void writeTo(DataOutputStream to) throws IOException;
    }

    private synchronized void add(Body body) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream to = new DataOutputStream(bytes);
        if (format.durable()) {
            to.writeInt(count + unwrittenRecords);
        }
        body.writeTo(to);
        ByteBuffer record = ByteBuffer.wrap(bytes.toByteArray());
        unwritten.writeBytes(ByteBuffer.allocate(FRAME)
                .putInt(record.remaining())
                .putInt(Crc32c.of(record))
                .array());
        unwritten.writeBytes(record.array());
        unwrittenRecords++;
    }

    @GuardedBy("this")
    private void flush() throws IOException {
        byte[] records = unwritten.toByteArray();
        int number = unwrittenRecords;
        unwritten.reset();
        unwrittenRecords = 0;
        if (torn) {
            file().setLength(end); // else old bytes past the end might follow the new ones
        }
        ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES + records.length);
        if (end == 0) {
            bytes.putLong(format.magic());
        }
        int length = bytes.put(records).flip().remaining();
        torn = true;
        file().write(end, bytes);
        torn = false;
        end += length;
        count += number;
    }

    /** The file. Reopened if that failed when the log was compacted. */
    @GuardedBy("this")
    private DataFile file() throws IOException {
        DataFile current = file;
        if (current == null) {
            checkOpen();
            current = files.open(name);
            file = current;
            if (closed) {
                current.close();
            }
        }
        return current;
    }

    /** Whether it should be compacted. */
    public synchronized boolean isLarge() {
        return end >= large;
    }

    /**
     * Continues in a new file, which replaces the old one in one step. A crash may leave either file; once the new name
     * is durable, it leaves the new one. Appends wait, so none is lost. A failed compaction leaves the log unchanged;
     * it is due again when the log is twice as long.
     *
     * @param state the records of the new file. Called under the monitor, so it must not append, nor wait for an append
     */
    public synchronized void compact(Source<R> state) throws IOException {
        checkOpen();
        large = 2 * end;
        files.remove(name + DRAFT);
        RecordLog<R> anew = create(files, name + DRAFT, format);
        draft = anew;
        try (anew) {
            checkOpen();
            anew.fill(state);
            anew.force(); // else a power cut could leave an empty file under the name
            checkOpen();
            files.rename(name + DRAFT, name);
        } catch (IOException | RuntimeException e) {
            if (!closed) { // else the names are another process's
                files.remove(name + DRAFT); // this may free the space that was lacking
            }
            throw e;
        } finally {
            draft = null;
        }
        synchronized (anew) {
            end = anew.end;
            count = anew.count;
            durable = anew.durable;
        }
        torn = false;
        large = Math.max(format.compactBytes(), 2 * end);
        DataFile old = file;
        file = null;
        if (old != null) {
            old.close();
        }
        file();
    }

    private synchronized void fill(Source<R> records) throws IOException {
        records.writeTo(record -> {
            add(to -> format.encoder().encode(record, to));
            flushIfMuch();
        });
        flush();
    }

    private synchronized void flushIfMuch() throws IOException {
        if (unwritten.size() >= BATCH_BYTES) {
            flush();
        }
    }

    /** Makes all earlier appended records durable. */
    public void force() throws IOException {
        DataFile current;
        int records;
        synchronized (this) {
            current = file();
            records = count;
        }
        try {
            current.force();
        } catch (IOException e) {
            if (isOver(current)) {
                return; // the log is closed, or a compacted file with the same records is durable
            }
            throw e;
        }
        if (format.durable()) {
            mark(current, records);
        }
    }

    @SuppressWarnings("ReferenceEquality") // Checks for the identical file.
    private synchronized boolean isOver(DataFile forced) {
        return closed || file != forced;
    }

    /** Appends a mark with the number of durable records. Waits for no disk: a mark counts once it is there. */
    @SuppressWarnings("ReferenceEquality") // Checks for the identical file.
    private synchronized void mark(DataFile forced, int records) {
        if (closed || file != forced || records <= durable) {
            return;
        }
        durable = records;
        try {
            add(to -> {
                to.writeByte(MARK);
                to.writeInt(records);
            });
            flush();
            if (count == records + 1) {
                durable = count; // nothing was appended meanwhile, so the mark itself needs no other mark
            }
        } catch (IOException e) {
            log.debug("The number of a log's durable records is unknown", e);
        }
    }

    public boolean isClosed() {
        return closed;
    }

    private void checkOpen() throws IOException {
        if (closed) {
            throw new IOException("the log " + name + " is closed");
        }
    }

    /**
     * From then on, another process may use the log's files. Does not wait for the monitor, because its holder may be
     * compacting the log; but, like closing a channel, waits for a call that is accessing the file.
     */
    @Override
    public void close() throws IOException {
        closed = true;
        RecordLog<R> unfinished = draft;
        if (unfinished != null) {
            unfinished.close();
        }
        DataFile current = file;
        if (current != null) {
            current.close();
        }
    }
}

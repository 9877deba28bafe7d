package io.penstock.disk;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file of records, one behind the other. Each is framed by its length and its CRC32C, 4 bytes each; the CRC is of what
 * follows it. The first record that does not hold ends the log: a crash leaves half a record, and so does a write that
 * fails. When most records are superseded the log is {@linkplain #compact() compacted}.
 *
 * <p>A {@linkplain Format#durable durable} log must not lose what was {@linkplain #force forced}. Its records are
 * numbered, in the first 4 bytes that the CRC is of, and a record out of turn does not hold either. Each {@code force}
 * appends a mark, which says how many records were durable: a mark behind the end tells a durable record that is damaged
 * from one that a crash has torn. A log that is not durable ends at whatever it cannot read.
 *
 * <p>Safe for use by any number of threads. The monitor is held across the write that it orders.
 */
public final class RecordLog<R> implements AutoCloseable {
    /** The end of the name of a file that is to take a log's place. */
    public static final String DRAFT = ".new";

    /** Length and CRC32C. */
    static final int FRAME = 2 * Integer.BYTES;

    /** The first byte of a mark, after its number. No record of a durable log begins with it. */
    static final byte MARK = 3;

    /** Number, {@link #MARK} and the number of durable records. */
    static final int MARK_LENGTH = Integer.BYTES + 1 + Integer.BYTES;

    static final int FRAMED_MARK = FRAME + MARK_LENGTH;

    /** How many bytes of records are written at once when the log is compacted. */
    private static final int BATCH_BYTES = 64 << 10;

    private static final Logger log = LoggerFactory.getLogger(RecordLog.class);

    private final DataFolder files;
    private final String name;
    private final Format<R> format;

    /** Written with the monitor held, as {@link #draft}; read without by {@link #close}, which waits for no disk. */
    private volatile @Nullable DataFile file;

    private volatile @Nullable RecordLog<R> draft;
    private volatile boolean closed;

    @GuardedBy("this")
    private Source<R> state = to -> {};

    @GuardedBy("this")
    private long end;

    /** How many records there are, marks among them. */
    @GuardedBy("this")
    private int count;

    /** How many of them are known to be durable. */
    @GuardedBy("this")
    private int durable;

    /** Behind the end there may be half a record: it is cut off before anything is appended. */
    @GuardedBy("this")
    private boolean torn;

    /** The length from which on the log is to be compacted. */
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
     * What is in a log.
     *
     * @param magic its first eight bytes, which name the format and its version
     * @param durable whether it must not lose what was forced
     * @param compactBytes a log that is shorter is not worth compacting
     */
    public record Format<R>(long magic, boolean durable, long compactBytes, Encoder<R> encoder, Decoder<R> decoder) {
        /** Whether the file is plain, and begins as such a log or is empty. */
        public boolean isAt(Path path) {
            if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
                return false;
            }
            try (InputStream from = Files.newInputStream(path, LinkOption.NOFOLLOW_LINKS)) {
                byte[] head = from.readNBytes(Long.BYTES);
                return head.length == 0
                        || (head.length == Long.BYTES && ByteBuffer.wrap(head).getLong() == magic);
            } catch (IOException e) {
                return false;
            }
        }
    }

    /** Writes a record. */
    public interface Encoder<R> {
        void encode(R record, DataOutputStream to) throws IOException;
    }

    /** Reads a record; throws IOException or IllegalArgumentException if it is none that this version knows. */
    public interface Decoder<R> {
        R decode(DataInputStream from) throws IOException;
    }

    /** Takes records. */
    public interface Sink<R> {
        void add(R record) throws IOException;
    }

    /** Gives records. */
    public interface Source<R> {
        void writeTo(Sink<R> to) throws IOException;
    }

    /** A durable log is damaged, or of a later version. The message is the second half of a sentence. */
    public static final class UnreadableException extends IOException {
        private static final long serialVersionUID = 1L;

        UnreadableException(String message) {
            super(message);
        }
    }

    /** Makes the file of a new log. */
    public static <R> RecordLog<R> create(DataFolder files, String name, Format<R> format) throws IOException {
        return new RecordLog<>(files, name, format, files.create(name));
    }

    /** Opens the file of a log, which is to be {@linkplain #replay replayed} before anything is appended. */
    public static <R> RecordLog<R> open(DataFolder files, String name, Format<R> format) throws IOException {
        return new RecordLog<>(files, name, format, files.open(name));
    }

    /**
     * Hands over the records of an earlier run; what is appended follows the last.
     *
     * @throws UnreadableException if some of what was durable cannot be read; the records before it were handed over
     */
    public synchronized void replay(Consumer<R> records) throws IOException {
        RecordReader reader = new RecordReader(file());
        Read whole = read(reader, records);
        if (format.durable() && reader.wasDurable(whole.end, whole.count, 4 * format.compactBytes())) {
            throw new UnreadableException("its record " + whole.count + ", at byte " + whole.end + ", is damaged");
        }
        count = whole.count;
        end = whole.end;
        torn = end < reader.size();
        if (torn) {
            log.info(
                    "The last {} bytes of the log {} are not whole, as a crash leaves them, and are not used.",
                    reader.size() - end,
                    name);
        }
    }

    /** What was read, and where it ends. */
    private record Read(int count, long end) {}

    private Read read(RecordReader reader, Consumer<R> records) throws IOException {
        if (!reader.begins(format.magic())) {
            if (format.durable() && !reader.begins(0)) { // zeros are what a crash leaves of a file that was just made
                throw new UnreadableException("it does not begin as the logs of this version do");
            }
            return new Read(0, 0);
        }
        int read = 0;
        long position = Long.BYTES;
        for (byte[] next = reader.record(position); next != null; next = reader.record(position)) {
            if (!accept(next, read, records)) {
                break;
            }
            read++;
            position += FRAME + next.length;
        }
        return new Read(read, position);
    }

    /** False if the record is not the next one. */
    private boolean accept(byte[] framed, int number, Consumer<R> records) throws UnreadableException {
        int start = format.durable() ? Integer.BYTES : 0;
        if (format.durable()) {
            if (framed.length <= start || ByteBuffer.wrap(framed).getInt() != number) {
                return false;
            }
            if (framed[start] == MARK) {
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
            UnreadableException unreadable =
                    new UnreadableException("its record " + number + " is of a later version: " + e.getMessage());
            unreadable.initCause(e);
            throw unreadable;
        }
        records.accept(record);
        return true;
    }

    /** Hands over all records again. */
    public synchronized void reread(Consumer<R> records) throws IOException {
        if (read(new RecordReader(file()), records).count < count) {
            throw new IOException("the log cannot be read: " + name);
        }
    }

    /**
     * What the log is to say when it is compacted. Called under the log's monitor: it appends nothing, and waits for nothing
     * that does.
     */
    public synchronized void compactTo(Source<R> present) {
        state = present;
    }

    /** @throws IOException if the record is not written, or the log is closed: then nothing is left of it */
    public synchronized void append(R record) throws IOException {
        checkOpen();
        write(frame(count, to -> format.encoder().encode(record, to)), 1);
    }

    private interface Body {
        void writeTo(DataOutputStream to) throws IOException;
    }

    private byte[] frame(int number, Body body) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream to = new DataOutputStream(bytes);
        to.writeLong(0); // in place of the frame
        if (format.durable()) {
            to.writeInt(number);
        }
        body.writeTo(to);
        byte[] framed = bytes.toByteArray();
        int length = framed.length - FRAME;
        ByteBuffer.wrap(framed).putInt(length).putInt(checksumOf(ByteBuffer.wrap(framed, FRAME, length)));
        return framed;
    }

    /** The first records of a log: written many at once. */
    private final class Batch implements Sink<R> {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private int number;
        private int unwritten;

        @Override
        public void add(R record) throws IOException {
            bytes.writeBytes(frame(number, to -> format.encoder().encode(record, to)));
            number++;
            unwritten++;
            if (bytes.size() >= BATCH_BYTES) {
                flush();
            }
        }

        void flush() throws IOException {
            write(bytes.toByteArray(), unwritten);
            bytes.reset();
            unwritten = 0;
        }
    }

    private synchronized void write(byte[] framed, int records) throws IOException {
        if (torn) {
            cut();
        }
        ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES + framed.length);
        if (end == 0) {
            bytes.putLong(format.magic());
        }
        bytes.put(framed).flip();
        int length = bytes.remaining();
        torn = true;
        file().write(end, bytes);
        torn = false;
        end += length;
        count += records;
    }

    /** Cuts off what is behind the end: a record that is appended there might be followed by it. */
    @GuardedBy("this")
    private void cut() throws IOException {
        try {
            file().setLength(end);
            torn = false;
        } catch (IOException e) {
            if (format.durable() || closed) {
                throw e;
            }
            log.debug("The log {} cannot be cut, and is written anew", name, e);
            compact();
        }
    }

    /** The file; opened again if that failed when the log was compacted. */
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

    /** In bytes. */
    public synchronized long length() {
        return end;
    }

    /** Whether it is to be compacted. */
    public synchronized boolean isLarge() {
        return end >= large;
    }

    public synchronized void compactIfLarge() throws IOException {
        if (isLarge()) {
            compact();
        }
    }

    /**
     * Goes on in a new file, which holds {@linkplain #compactTo the present state} and takes the place of the old one in one
     * step. A crash may find either; once the name is durable, the new one. Appends wait for it, so that none is lost. A
     * compaction that fails leaves the log as it was; it is due again once that is twice as long.
     */
    public synchronized void compact() throws IOException {
        checkOpen();
        large = 2 * end;
        files.remove(name + DRAFT);
        RecordLog<R> anew = create(files, name + DRAFT, format);
        draft = anew;
        try (anew) {
            checkOpen();
            anew.fill(state);
            anew.force(); // else a power cut could leave the name with an empty file
            checkOpen();
            files.rename(name + DRAFT, name);
        } catch (IOException | RuntimeException e) {
            removeDraft();
            throw e;
        } finally {
            draft = null;
        }
        DataFile old = file;
        file = null;
        takeOver(anew);
        if (old != null) {
            old.close();
        }
        file();
    }

    private void fill(Source<R> records) throws IOException {
        Batch batch = new Batch();
        records.writeTo(batch);
        batch.flush();
    }

    @GuardedBy("this")
    private void takeOver(RecordLog<R> anew) {
        synchronized (anew) {
            end = anew.end;
            count = anew.count;
            durable = anew.durable;
        }
        torn = false;
        large = Math.max(format.compactBytes(), 2 * end);
    }

    /** The space that it takes may be what there was too little of. Once the log is closed its names are another's. */
    private void removeDraft() throws IOException {
        if (!closed) {
            files.remove(name + DRAFT);
        }
    }

    /** Makes durable what was appended before. */
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
                return; // nobody needs it any more; or another file says the same, and is durable
            }
            throw e;
        }
        if (format.durable()) {
            mark(current, records);
        }
    }

    @SuppressWarnings("ReferenceEquality") // Whether it is still that very file.
    private synchronized boolean isOver(DataFile forced) {
        return closed || file != forced;
    }

    /** Says how many records are durable. Does not wait for the disk: the mark counts as long as it is there. */
    @SuppressWarnings("ReferenceEquality") // Whether it is still that very file.
    private synchronized void mark(DataFile forced, int records) {
        if (closed || file != forced || records <= durable) {
            return;
        }
        durable = records;
        try {
            byte[] mark = frame(count, to -> {
                to.writeByte(MARK);
                to.writeInt(records);
            });
            write(mark, 1);
            if (count == records + 1) {
                durable = count; // nothing else was appended in between: the mark needs no other to say so
            }
        } catch (IOException e) {
            log.debug("A log does not tell what of it is durable", e);
        }
    }

    static int checksumOf(ByteBuffer bytes) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        return (int) checksum.getValue();
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
     * From then on the log's names may be another process's. Does not wait for the monitor, whose holder may be compacting
     * the log; but, as closing a channel does, for a call that is in the file just now.
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

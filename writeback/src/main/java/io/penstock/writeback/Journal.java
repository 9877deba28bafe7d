package io.penstock.writeback;

import io.penstock.disk.DataFile;
import io.penstock.disk.DataFolder;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The journal of one file: records, one behind the other, each framed by its length, its CRC32C and its number. The
 * first that does not hold, or is out of turn, ends it: that is what a crash leaves, or a write that failed before
 * another, shorter one took its place. But a {@link JournalRecord.Synced} behind it tells a record that a crash has torn
 * from one that was durable and is damaged. Safe for use by any number of threads; held across the append that it orders.
 */
final class Journal implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Journal.class);

    /** Names the format; another one is not read. */
    private static final long MAGIC = 0x50454e53_4a4e4c_01L; // "PENSJNL", version 1

    /** Length, CRC32C, number; the CRC is of all that follows it. */
    static final int FRAME = 3 * Integer.BYTES;

    /**
     * A journal of so many bytes is to say the same in less. Reading it takes a second at the most when a node comes
     * back, and a program gets here by some 100,000 fsyncs of a file that it keeps open.
     */
    static final long LARGE_BYTES = 64L << 20;

    /** Of the name of a journal that is to take another's place. */
    static final String DRAFT = ".new";

    // Guarded by this.
    private DataFile file;
    private long end;
    private int count;
    private boolean closed;

    /** Records known to be durable. */
    private int durable;

    /** Behind the end there may be what a crash has left. */
    private boolean torn;

    /** When to {@link #shorten} it. */
    private long large = LARGE_BYTES;

    private Journal(DataFile file, long end, int count, boolean torn) {
        this.file = file;
        this.end = end;
        this.count = count;
        this.torn = torn;
    }

    /** What it says is not known: it is damaged, or of a later version. The message is the second half of a sentence. */
    static final class UnreadableException extends IOException {
        private static final long serialVersionUID = 1L;

        UnreadableException(String message) {
            super(message);
        }
    }

    static Journal create(DataFile file) throws IOException {
        file.write(0, ByteBuffer.allocate(Long.BYTES).putLong(MAGIC).flip());
        return new Journal(file, Long.BYTES, 0, false);
    }

    /**
     * Hands over the records of an earlier run; what is appended follows the last.
     *
     * @throws UnreadableException if some of what was durable cannot be read; the records before it were handed over
     */
    static Journal replay(DataFile file, Consumer<JournalRecord> records) throws IOException {
        JournalReader reader = new JournalReader(file);
        int count = 0;
        long end = 0;
        if (reader.begins(MAGIC)) {
            end = Long.BYTES;
            byte[] encoded;
            while ((encoded = reader.record(end, count)) != null) {
                JournalRecord record = decode(encoded, count);
                if (!(record instanceof JournalRecord.Synced)) {
                    records.accept(record);
                }
                count++;
                end += FRAME + encoded.length;
            }
        } else if (!reader.begins(0)) { // which a crash leaves of a file that was just made
            throw new UnreadableException("it does not begin as the journals of this version do");
        }
        if (reader.wasDurable(end, count)) {
            throw new UnreadableException("its record " + count + ", at byte " + end + ", is damaged");
        }
        return end == 0 ? create(file) : new Journal(file, end, count, true);
    }

    private static JournalRecord decode(byte[] encoded, int number) throws UnreadableException {
        try {
            return JournalRecord.decode(new DataInputStream(new ByteArrayInputStream(encoded)));
        } catch (IOException | IllegalArgumentException e) {
            UnreadableException unreadable =
                    new UnreadableException("its record " + number + " is of a later version: " + e.getMessage());
            unreadable.initCause(e);
            throw unreadable;
        }
    }

    synchronized void append(JournalRecord record) throws IOException {
        if (closed) {
            return; // the file is committed or gone: nobody needs it any more
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream to = new DataOutputStream(bytes);
        to.writeInt(count);
        record.encode(to);
        byte[] encoded = bytes.toByteArray();
        ByteBuffer framed = ByteBuffer.allocate(2 * Integer.BYTES + encoded.length)
                .putInt(encoded.length)
                .putInt(checksumOf(ByteBuffer.wrap(encoded)))
                .put(encoded)
                .flip();
        int length = framed.remaining();
        if (torn) { // else what is left there might follow this one
            file.setLength(end);
            torn = false;
        }
        file.write(end, framed);
        end += length;
        count++;
    }

    synchronized long length() {
        return end;
    }

    synchronized boolean isLarge() {
        return end >= large;
    }

    /**
     * Goes on in a new file, which says the same in less and takes the place of the old one in one step. A crash may find
     * either; once the name is durable, the new one.
     *
     * @param name of the file
     */
    synchronized void shorten(DataFolder files, String name) throws IOException {
        if (closed) {
            return;
        }
        large = 2 * end; // should it fail
        JournalState state = new JournalState();
        if (replay(file, state).count != count) {
            throw new IOException("the journal cannot be read: " + name);
        }
        Journal shorter = replace(files, name, state.records());
        file.close(); // should it not be opened again, nothing is to be written to what has no name any more
        file = files.open(name);
        end = shorter.end;
        count = shorter.count;
        durable = shorter.durable;
        large = Math.max(LARGE_BYTES, 2 * end);
    }

    private static Journal replace(DataFolder files, String name, List<JournalRecord> by) throws IOException {
        String draft = name + DRAFT;
        files.remove(draft);
        try (DataFile file = files.create(draft)) {
            Journal journal = create(file);
            for (JournalRecord record : by) {
                journal.append(record);
            }
            journal.force();
            files.rename(draft, name);
            return journal;
        } catch (IOException e) {
            files.remove(draft);
            throw e;
        }
    }

    /** To be called by one who has appended. */
    void force() throws IOException {
        DataFile current;
        int records;
        synchronized (this) {
            current = file;
            records = count;
        }
        try {
            current.force();
        } catch (IOException e) {
            if (isOver(current)) {
                return; // as with what is appended; or another says the same, and is durable
            }
            throw e;
        }
        noteDurable(current, records);
    }

    @SuppressWarnings("ReferenceEquality") // Whether it is still that very file.
    private synchronized boolean isOver(DataFile forced) {
        return closed || file != forced;
    }

    /** Without waiting for the disk: it counts as long as it is there. */
    @SuppressWarnings("ReferenceEquality") // Whether it is still that very file.
    private synchronized void noteDurable(DataFile forced, int records) {
        if (file != forced || records <= durable) {
            return;
        }
        durable = records;
        try {
            append(new JournalRecord.Synced(records));
            if (count == records + 1) {
                durable = count; // nothing else has come in between: it needs no other to say so
            }
        } catch (IOException e) {
            log.debug("A journal does not tell what of it is durable", e);
        }
    }

    private static int checksumOf(ByteBuffer bytes) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        return (int) checksum.getValue();
    }

    @Override
    public void close() throws IOException {
        DataFile current;
        synchronized (this) {
            closed = true;
            current = file;
        }
        current.close();
    }
}

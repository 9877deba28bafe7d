package io.penstock.writeback;

import io.penstock.cache.DataFile;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * The journal of one file: records, one behind the other, each framed by its length, its CRC32C and its number. The
 * first that does not hold, or is out of turn, ends it: that is what a crash leaves, or a write that failed before
 * another, shorter one took its place. Safe for use by any number of threads; held across the append that it orders.
 */
final class Journal implements AutoCloseable {
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

    /** When to {@link #shorten} it. */
    private long large = LARGE_BYTES;

    private Journal(DataFile file, long end, int count) {
        this.file = file;
        this.end = end;
        this.count = count;
    }

    static Journal create(DataFile file) throws IOException {
        file.write(0, ByteBuffer.allocate(Long.BYTES).putLong(MAGIC).flip());
        return new Journal(file, Long.BYTES, 0);
    }

    /** Hands over the records of an earlier run; what is appended follows the last. */
    static Journal replay(DataFile file, Consumer<JournalRecord> records) throws IOException {
        JournalReader reader = new JournalReader(file);
        if (!reader.begins(MAGIC)) {
            return create(file);
        }
        int count = 0;
        long end = Long.BYTES;
        byte[] encoded;
        while ((encoded = reader.record(end, count)) != null) {
            try {
                JournalRecord record = JournalRecord.decode(new DataInputStream(new ByteArrayInputStream(encoded)));
                if (record != null) {
                    records.accept(record);
                }
            } catch (IOException | IllegalArgumentException e) {
                break; // of a later version
            }
            count++;
            end += FRAME + encoded.length;
        }
        return new Journal(file, end, count);
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
    synchronized void shorten(StagingFiles files, String name) throws IOException {
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
        large = Math.max(LARGE_BYTES, 2 * end);
    }

    private static Journal replace(StagingFiles files, String name, List<JournalRecord> by) throws IOException {
        String draft = name + DRAFT;
        files.remove(draft);
        try (DataFile file = files.create(draft)) {
            Journal journal = create(file);
            for (JournalRecord record : by) {
                journal.append(record);
            }
            file.force();
            files.rename(draft, name);
            return journal;
        } catch (IOException e) {
            files.remove(draft);
            throw e;
        }
    }

    /** To be called by one who has appended, while nobody {@linkplain #shorten shortens} it. */
    void force() throws IOException {
        DataFile current;
        synchronized (this) {
            current = file;
        }
        current.force();
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

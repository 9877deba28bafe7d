package io.penstock.writeback;

import io.penstock.cache.DataFile;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
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
     * A journal of so many bytes is to be replaced by one that speaks of less. Reading it takes a second at the most when
     * a node comes back, and a program gets here by some 100,000 fsyncs of a file that it keeps open.
     */
    static final long LARGE_BYTES = 64L << 20;

    private final DataFile file;

    // Guarded by this.
    private long end;
    private int count;
    private boolean closed;

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

    void force() throws IOException {
        file.force();
    }

    private static int checksumOf(ByteBuffer bytes) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        return (int) checksum.getValue();
    }

    @Override
    public void close() throws IOException {
        synchronized (this) {
            closed = true;
        }
        file.close();
    }
}

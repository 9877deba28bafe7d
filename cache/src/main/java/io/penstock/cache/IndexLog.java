package io.penstock.cache;

import io.penstock.disk.PrivateFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The index of a cache folder: one file to which every change is appended, and which is replayed at the next start.
 *
 * <p>Each record is framed by its length and its CRC32C (4 bytes each). The first that does not hold ends the replay,
 * and the file is cut there: that is what a crash leaves. A page's record follows its bytes to the kernel, so after a
 * killed process it is always true; after a power cut it may not be, and the page's own checksum tells.
 *
 * <p>Where most records have been superseded, or half a record cannot be taken away, the log is written anew, with the
 * present state only.
 */
final class IndexLog implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(IndexLog.class);

    /** Names the format; another one is not read, and the cache starts empty. */
    private static final long MAGIC = 0x50454e53_494458_01L; // "PENSIDX", version 1

    private static final int FRAME = 2 * Integer.BYTES;
    private static final int BUFFER_SIZE = 64 << 10;

    /** Below this a log is not worth shortening. */
    private static final long MIN_COMPACTION_BYTES = 4L << 20;

    private final Path path;

    /**
     * Guards what follows, and is held across the append that it orders. Only write-behind and eviction come here, never
     * a reader.
     */
    private final ReentrantLock lock = new ReentrantLock();

    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_SIZE);
    private long length;

    /** Volatile for {@link #close}, which takes no lock. */
    private volatile FileChannel channel;

    /** What to write where the log is written anew. */
    private Snapshot present = records -> {};

    /** The log's length when it last held nothing superseded. */
    private long compactLength;

    /** Half a record at the end could not be taken away: the log is to be written anew before anything is appended. */
    private boolean torn;

    /** Set before the folder is left to the next process: from then on the log's name is not ours. */
    private volatile boolean closed;

    /** The present state, as records. Told under the log's lock, so it appends nothing and waits for nothing that does. */
    interface Snapshot {
        void writeTo(Consumer<IndexRecord> records);
    }

    /** @param channel of the file, for reading and writing */
    IndexLog(Path path, FileChannel channel) {
        this.path = path;
        this.channel = channel;
    }

    /** Whether this file is such a log, or one just begun. Follows no symbolic link. */
    static boolean isOne(Path path) {
        if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
            ByteBuffer head = ByteBuffer.allocate(Long.BYTES);
            while (head.hasRemaining() && channel.read(head) >= 0) {
                // reads on
            }
            return head.position() == 0 || (!head.hasRemaining() && head.getLong(0) == MAGIC);
        } catch (IOException e) {
            return false;
        }
    }

    /** Opens the log, or starts one. It is to be {@linkplain #replay replayed} before anything is appended. */
    static IndexLog open(Path path) throws IOException {
        Files.deleteIfExists(temporary(path));
        FileChannel channel = FileChannel.open(
                path,
                Set.of(
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE,
                        LinkOption.NOFOLLOW_LINKS),
                PrivateFiles.FILE);
        return new IndexLog(path, channel);
    }

    /**
     * Hands over what the log says, in order, and cuts off what a crash left half written.
     *
     * @param state what to write from now on where the log is written anew
     */
    void replay(Consumer<IndexRecord> records, Snapshot state) throws IOException {
        present = state;
        long size = channel.size();
        long position = new Replay(channel, records).run();
        if (position < size) {
            log.info(
                    "The end of the cache's index {} is damaged ({} bytes), as a crash leaves it; what it said of"
                            + " pages is forgotten.",
                    path,
                    size - position);
            channel.truncate(position);
        }
        if (position == 0) {
            channel.write(ByteBuffer.allocate(Long.BYTES).putLong(MAGIC).flip(), 0);
            position = Long.BYTES;
        }
        channel.position(position);
        length = position;
        compactLength = position / 2; // unknown; so that it is looked at soon
    }

    /** One pass over a log from its start. */
    private static final class Replay {
        private final FileChannel channel;
        private final Consumer<IndexRecord> records;
        private final ByteBuffer buffer = ByteBuffer.allocate(1 << 20).limit(0);
        private final CRC32C checksum = new CRC32C();

        Replay(FileChannel channel, Consumer<IndexRecord> records) {
            this.channel = channel;
            this.records = records;
        }

        /** The length of what is whole; 0 if nothing is, not even the head. */
        long run() throws IOException {
            if (!has(Long.BYTES) || buffer.getLong() != MAGIC) {
                return 0;
            }
            long whole = Long.BYTES;
            while (has(FRAME)) {
                int recordLength = buffer.getInt();
                int expected = buffer.getInt();
                if (recordLength <= 0 || recordLength > IndexRecord.MAX_LENGTH || !has(recordLength)) {
                    break;
                }
                ByteBuffer encoded = buffer.slice(buffer.position(), recordLength);
                buffer.position(buffer.position() + recordLength);
                if (checksumOf(checksum, encoded.duplicate()) != expected) {
                    break;
                }
                IndexRecord found = IndexRecord.decode(encoded);
                if (found == null) {
                    break;
                }
                records.accept(found);
                whole += FRAME + recordLength;
            }
            return whole;
        }

        private boolean has(int bytes) throws IOException {
            if (buffer.remaining() < bytes) {
                buffer.compact();
                while (buffer.position() < bytes && channel.read(buffer) >= 0) {
                    // reads on
                }
                buffer.flip();
            }
            return buffer.remaining() >= bytes;
        }
    }

    /** Not ended by an interrupt, which would close the file for all threads: it is passed on afterwards. */
    void append(IndexRecord entry) throws IOException {
        boolean interrupted = Thread.interrupted();
        lock.lock();
        try {
            checkOpen();
            if (torn) {
                compact();
            }
            appendWhole(entry);
        } finally {
            lock.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void appendWhole(IndexRecord entry) throws IOException {
        long start = length;
        buffer.clear();
        put(entry);
        try {
            flush();
        } catch (IOException e) {
            cutTo(start);
            throw e;
        }
    }

    /** Takes half a record away: what is appended after it would never be read. */
    private void cutTo(long end) {
        try {
            channel.truncate(end);
            length = end;
        } catch (IOException e) {
            torn = true;
        }
    }

    private void put(IndexRecord entry) {
        int start = buffer.position();
        buffer.position(start + FRAME);
        entry.encode(buffer);
        int recordLength = buffer.position() - start - FRAME;
        buffer.putInt(start, recordLength);
        buffer.putInt(start + Integer.BYTES, checksumOf(new CRC32C(), buffer.slice(start + FRAME, recordLength)));
    }

    private void flush() throws IOException {
        buffer.flip();
        while (buffer.hasRemaining()) {
            length += channel.write(buffer);
        }
    }

    /** Whether most of it is superseded: then {@link #compactIfDue} is worth a call, from where it may take its time. */
    boolean isDue() {
        lock.lock();
        try {
            return length > MIN_COMPACTION_BYTES && length > 2 * compactLength;
        } finally {
            lock.unlock();
        }
    }

    /** Where this fails the log is as it was, and due again once it is twice as long. */
    void compactIfDue() throws IOException {
        lock.lock();
        try {
            if (isDue()) {
                compactLength = length;
                compact();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Writes the log anew. Appends wait meanwhile, so that none is lost: what one of them says is either in the snapshot
     * or follows it.
     */
    void compact() throws IOException {
        lock.lock();
        try {
            checkOpen();
            Path temporary = temporary(path);
            Files.deleteIfExists(temporary);
            FileChannel old = channel;
            long oldLength = length;
            boolean done = false;
            channel = FileChannel.open(
                    temporary, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), PrivateFiles.FILE);
            try {
                length = 0;
                writeAll();
                channel.force(true); // else a power cut could leave the name with an empty file
                checkOpen();
                Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
                done = true;
            } finally {
                if (!done) {
                    takeBack(old, oldLength);
                }
            }
            compactLength = length;
            torn = false;
            old.close();
        } finally {
            lock.unlock();
        }
    }

    /** What was begun anew is not whole. The space that it takes may be what there was too little of. */
    private void takeBack(FileChannel old, long oldLength) throws IOException {
        FileChannel unfinished = channel;
        channel = old;
        length = oldLength;
        unfinished.close();
        if (closed) { // and what was closed is the unfinished one
            old.close();
        } else {
            Files.deleteIfExists(temporary(path));
        }
    }

    private void writeAll() throws IOException {
        buffer.clear();
        buffer.putLong(MAGIC);
        IOException[] failure = new IOException[1];
        present.writeTo(entry -> {
            if (failure[0] != null) {
                return;
            }
            put(entry);
            if (buffer.remaining() < FRAME + IndexRecord.MAX_LENGTH) {
                try {
                    flush();
                    buffer.clear();
                } catch (IOException e) {
                    failure[0] = e;
                }
            }
        });
        if (failure[0] != null) {
            throw failure[0];
        }
        flush();
    }

    private static int checksumOf(CRC32C checksum, ByteBuffer bytes) {
        checksum.reset();
        checksum.update(bytes);
        return (int) checksum.getValue();
    }

    private static Path temporary(Path path) {
        return path.resolveSibling(path.getFileName() + ".new");
    }

    boolean isClosed() {
        return closed;
    }

    private void checkOpen() throws IOException {
        if (closed) {
            throw new IOException("the index " + path + " is closed");
        }
    }

    /**
     * Does not wait for the lock, whose holder may be writing the log anew; but, as closing a channel does, for a call that
     * is in the file just now.
     */
    @Override
    public void close() throws IOException {
        closed = true;
        channel.close();
    }
}

package io.penstock.writeback.survivors;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ByteRange;
import io.penstock.core.KernelRequest;
import io.penstock.core.ObjectVersion;
import io.penstock.disk.MappedLog;
import io.penstock.disk.RecordEncoder;
import io.penstock.writeback.content.Ranges;
import io.penstock.writeback.journal.JournalRecord;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records what each written file is, for the mount's next process: in {@linkplain SurvivorMemory memory} that outlives
 * this one, before a program gets the reply to what it has done. When most records are outdated, a thread describes all
 * files anew in the other log.
 *
 * <p>If there is no memory for it, the log ends, and with it the promise: the mount no longer survives its process.
 *
 * <p>Safe for use by any number of threads.
 */
public final class SurvivorLog implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(SurvivorLog.class);

    // The kinds of records.
    static final byte BEGIN = 1;
    static final byte PART = 2;
    static final byte COMPLETE = 3;
    static final byte WROTE = 4;
    static final byte ENDED = 5;
    static final byte LAST = 6;
    static final byte REMOVING = 7;
    static final byte REMOVED = 8;
    static final byte EXTENDED = 9;
    static final byte UNLINKING = 10;

    /** Enough for a record without ranges. */
    private static final int FIXED = 80;

    /** Bytes were written by no request whose answer depends on them. */
    static final long NO_REQUEST = 0;

    /** The files are described anew once the log has grown by this much, and by as much as it had after the last time. */
    private static final long GROWTH = 32L << 20;

    /**
     * What requests have written and deleted is only in the records, until their replies are sent. Those from before the
     * other log was begun are sent by this much later.
     */
    private static final Duration REPLIES = Duration.ofSeconds(1);

    private final SurvivorMemory memory;
    private final Supplier<Stream<FileRecord>> files;
    private final Runnable onLoss;

    /** Null once the log has ended. */
    @GuardedBy("this")
    private @Nullable MappedLog records;

    /** The log that will be the current one; null if none is being written. */
    @GuardedBy("this")
    private @Nullable MappedLog next;

    @GuardedBy("this")
    private long large;

    private final AtomicLong lastNumber;

    /** Objects of removed names that are not deleted yet. */
    @GuardedBy("this")
    private final Set<ObjectVersion> removals = new LinkedHashSet<>();

    @GuardedBy("this")
    private final RecordEncoder encoder = new RecordEncoder();

    /**
     * @param lastNumber of a file
     * @param files all files that are not ended
     */
    public SurvivorLog(Outliving outliving, AtomicLong lastNumber, Supplier<Stream<FileRecord>> files)
            throws IOException {
        this.memory = outliving.memory();
        this.lastNumber = lastNumber;
        this.files = files;
        this.onLoss = outliving.onLoss();
        Survivors left = outliving.left();
        this.records = left == null
                ? MappedLog.create(memory.file(), memory.currentLog())
                : MappedLog.reopen(memory.file(), memory.currentLog(), left.end());
        if (left != null) {
            removals.addAll(left.removals());
        }
        this.large = Long.MAX_VALUE;
    }

    /**
     * All files are known: from now on the log may be written anew. Frees what the former process had and these do not
     * use.
     *
     * @param left files of the former process
     * @param taken the numbers of those that were taken over; the others are given up
     */
    public void begin(List<Survivor> left, Set<Long> taken) {
        left.stream()
                .map(Survivor::number)
                .filter(number -> !taken.contains(number))
                .forEach(this::ended);
        memory.freeOthers();
        synchronized (this) {
            large = GROWTH;
        }
    }

    /** @param most maximum bytes of the record */
    private synchronized void add(int most, RecordEncoder.Body record) {
        MappedLog to = records;
        if (to == null) {
            return;
        }
        try {
            ByteBuffer encoded = encoder.encode(most, record);
            to.append(encoded);
            if (next != null) {
                next.append(encoded.rewind());
            } else if (to.end() >= large) {
                next = MappedLog.create(memory.file(), memory.otherLog());
                begin(next);
                Thread.ofPlatform().daemon().name("written files").start(this::rewrite);
            }
        } catch (IOException | RuntimeException e) { // also a record that is too long
            lose(e);
        }
    }

    /** Writes what is of no file. */
    @GuardedBy("this")
    private void begin(MappedLog to) throws IOException {
        encoder.append(to, FIXED, record -> record.put(LAST).putLong(lastNumber.get()));
        for (ObjectVersion removal : removals) {
            byte[] version = encode(out -> JournalRecord.encode(removal, out));
            encoder.append(
                    to,
                    FIXED + version.length,
                    record -> record.put(REMOVING).putLong(NO_REQUEST).put(version));
        }
    }

    /** Describes all files in the next log too. What is recorded meanwhile goes to both. */
    private void rewrite() {
        try {
            files.get().forEach(FileRecord::describeAnew);
            Thread.sleep(REPLIES);
            synchronized (this) {
                MappedLog former = records;
                MappedLog anew = next;
                if (former == null || anew == null) {
                    return;
                }
                memory.switchLogs();
                records = anew;
                next = null;
                large = anew.end() + Math.max(GROWTH, anew.end());
                memory.freeOtherLog();
            }
        } catch (InterruptedException | RuntimeException e) { // nothing interrupts it
            synchronized (this) {
                lose(e);
            }
        }
    }

    @GuardedBy("this")
    private void lose(Exception cause) {
        if (records == null) {
            return;
        }
        log.warn(
                "This mount no longer survives the end of its process: written files cannot be recorded ({})",
                String.valueOf(cause.getMessage()));
        close();
        onLoss.run();
    }

    /** Records nothing more: what was recorded stays. */
    @Override
    public synchronized void close() {
        records = null;
        next = null;
    }

    // ---- records; the caller holds the file's lock

    /** A file is this from now on. */
    void describe(long number, Survivor.Header header, List<Placed> parts) {
        byte[] encoded = encode(header::encode);
        synchronized (this) {
            add(FIXED + encoded.length, to -> to.put(BEGIN).putLong(number).put(encoded));
            parts.forEach(part -> place(number, part));
            add(FIXED, to -> to.put(COMPLETE).putLong(number));
        }
    }

    /** Writes to memory. */
    private interface Encoding {
        void writeTo(DataOutputStream to) throws IOException;
    }

    private static byte[] encode(Encoding encoding) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            encoding.writeTo(new DataOutputStream(bytes));
        } catch (IOException e) {
            throw new IllegalStateException("memory does not fail", e);
        }
        return bytes.toByteArray();
    }

    /** Where the bytes of a block are. */
    record Placed(long block, Survivor.Part part) {}

    /** The bytes of a block are here from now on. */
    void place(long number, Placed placed) {
        Survivor.Part part = placed.part;
        List<ByteRange> inMemory = part.inMemory().toList();
        List<ByteRange> stored = part.stored().toList();
        add(FIXED + (inMemory.size() + stored.size()) * 2 * Long.BYTES, to -> {
            to.put(PART).putLong(number).putLong(placed.block).putInt(part.memory());
            put(to, inMemory);
            put(to, stored);
        });
    }

    private static void put(ByteBuffer to, List<ByteRange> ranges) {
        to.putInt(ranges.size());
        ranges.forEach(range -> to.putLong(range.offset()).putLong(range.length()));
    }

    static Ranges ranges(ByteBuffer from) {
        Ranges ranges = new Ranges();
        for (int left = from.getInt(); left > 0; left--) {
            long offset = from.getLong();
            ranges.add(offset, offset + from.getLong());
        }
        return ranges;
    }

    /** Bytes of a block were written to this memory. */
    void wrote(long number, long block, int memory, long from, long until, Instant modified) {
        long request = request();
        add(
                FIXED,
                to -> to.put(WROTE)
                        .putLong(number)
                        .putLong(block)
                        .putInt(memory)
                        .putLong(from)
                        .putLong(until)
                        .putLong(modified.getEpochSecond())
                        .putInt(modified.getNano())
                        .putLong(request));
    }

    /** The file was extended with zeros. */
    void extended(long number, long size, Instant modified) {
        add(
                FIXED,
                to -> to.put(EXTENDED)
                        .putLong(number)
                        .putLong(size)
                        .putLong(modified.getEpochSecond())
                        .putInt(modified.getNano()));
    }

    /** Nothing of the file is needed any more. */
    void ended(long number) {
        add(FIXED, to -> to.put(ENDED).putLong(number));
    }

    // ---- removals

    /** The request that this thread serves shows a name as removed, and this object of it must be deleted. */
    public synchronized void removing(ObjectVersion object) {
        removals.add(object);
        addRemoval(REMOVING, request(), object);
    }

    /** The request that this thread serves deletes this object. */
    public void unlinking(ObjectVersion object) {
        addRemoval(UNLINKING, request(), object);
    }

    /** The deletion of an object {@linkplain #removing to be deleted} has ended. */
    public synchronized void removed(ObjectVersion object) {
        removals.remove(object);
        addRemoval(REMOVED, NO_REQUEST, object);
    }

    private void addRemoval(byte kind, long request, ObjectVersion object) {
        byte[] version = encode(out -> JournalRecord.encode(object, out));
        add(FIXED + version.length, to -> to.put(kind).putLong(request).put(version));
    }

    /** The number of the request that this thread serves. */
    private static long request() {
        KernelRequest current = KernelRequest.current();
        return current == null ? NO_REQUEST : current.number();
    }
}

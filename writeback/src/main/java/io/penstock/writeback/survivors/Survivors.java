package io.penstock.writeback.survivors;

import static java.util.Objects.requireNonNull;

import io.penstock.core.ObjectVersion;
import io.penstock.disk.DamagedLogException;
import io.penstock.disk.MappedLogReader;
import io.penstock.writeback.journal.JournalRecord;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The written files that the mount's former process has left in its memory. Not thread-safe. */
public final class Survivors {
    private static final int MOST_REQUESTS = 1 << 16;

    private final Map<Long, Survivor> files = new HashMap<>();

    /** Those whose description is not complete yet. */
    private final Map<Long, Survivor> begun = new HashMap<>();

    /** How many bytes the last requests wrote, by their numbers. */
    private final Map<Long, Integer> written = new LastRequests<>();

    /** The objects that the last requests deleted, by their numbers. */
    private final Map<Long, ObjectVersion> deleted = new LastRequests<>();

    private final Set<ObjectVersion> removals = new LinkedHashSet<>();
    private long lastNumber;
    private long end;

    private Survivors() {}

    /** Values by the numbers of requests. */
    private static final class LastRequests<V> extends LinkedHashMap<Long, V> {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, V> eldest) {
            return size() > MOST_REQUESTS;
        }
    }

    /** @throws DamagedLogException if the log is not what was written */
    public static Survivors read(SurvivorMemory memory) throws IOException {
        Survivors left = new Survivors();
        Path file = memory.file().path();
        left.end = MappedLogReader.read(
                file, memory.currentLog(), 0, Long.MAX_VALUE, true, record -> left.apply(file, record));
        return left;
    }

    /**
     * Whether this version of Penstock can read it, while another process writes to it.
     *
     * @param descriptor of the memory; it stays open
     */
    public static void check(int descriptor) throws IOException {
        SurvivorMemory memory = SurvivorMemory.of(descriptor);
        try {
            var _ = read(memory);
        } catch (DamagedLogException _) {
            var _ = read(memory); // the log may have been written anew meanwhile
        }
    }

    private void apply(Path file, ByteBuffer record) throws IOException {
        byte kind = record.get();
        if (kind == SurvivorLog.REMOVING || kind == SurvivorLog.REMOVED || kind == SurvivorLog.UNLINKING) {
            applyRemoval(kind, record.getLong(), requireNonNull(JournalRecord.decodeVersion(rest(record))));
            return;
        }
        long number = record.getLong();
        lastNumber = Math.max(lastNumber, number);
        switch (kind) {
            case SurvivorLog.BEGIN -> {
                begun.put(number, new Survivor(number, Survivor.Header.decode(rest(record))));
            }
            case SurvivorLog.COMPLETE -> {
                Survivor complete = begun.remove(number);
                if (complete != null) {
                    files.put(number, complete);
                }
            }
            case SurvivorLog.PART -> {
                Survivor of = begun.getOrDefault(number, files.get(number));
                if (of != null) { // else its description follows
                    long block = record.getLong();
                    int memory = record.getInt();
                    of.place(block, new Survivor.Part(memory, SurvivorLog.ranges(record), SurvivorLog.ranges(record)));
                }
            }
            case SurvivorLog.WROTE -> {
                long block = record.getLong();
                int memory = record.getInt();
                long from = record.getLong();
                long to = record.getLong();
                Instant modified = Instant.ofEpochSecond(record.getLong(), record.getInt());
                long request = record.getLong();
                if (request != SurvivorLog.NO_REQUEST) {
                    written.merge(request, (int) (to - from), Integer::sum);
                }
                Survivor of = files.get(number);
                if (of != null) { // else its description follows
                    of.wrote(block, memory, from, to, modified);
                }
            }
            case SurvivorLog.EXTENDED -> {
                Survivor of = files.get(number);
                if (of != null) {
                    of.extended(record.getLong(), Instant.ofEpochSecond(record.getLong(), record.getInt()));
                }
            }
            case SurvivorLog.ENDED -> files.remove(number);
            case SurvivorLog.LAST -> {}
            default -> throw new DamagedLogException(file, "it has a record of an unknown kind");
        }
    }

    private void applyRemoval(byte kind, long request, ObjectVersion object) {
        if (kind == SurvivorLog.REMOVING) {
            removals.add(object);
        } else if (kind == SurvivorLog.REMOVED) {
            removals.remove(object);
        }
        if (request != SurvivorLog.NO_REQUEST) {
            deleted.put(request, object);
        }
    }

    private static DataInputStream rest(ByteBuffer record) {
        byte[] rest = new byte[record.remaining()];
        record.get(rest);
        return new DataInputStream(new ByteArrayInputStream(rest));
    }

    /** How many bytes this request of the kernel, one of the last, has written. */
    public int written(long request) {
        return written.getOrDefault(request, 0);
    }

    /** The last object that this request of the kernel, one of the last, began to delete; null if there was none. */
    public @Nullable ObjectVersion deleted(long request) {
        return deleted.get(request);
    }

    /** Objects of removed names, whose deletion has not ended. */
    public Set<ObjectVersion> removals() {
        return removals;
    }

    public List<Survivor> files() {
        return List.copyOf(files.values());
    }

    /** No file had a higher number. */
    public long lastNumber() {
        return lastNumber;
    }

    /** Where the records end in their log. */
    long end() {
        return end;
    }
}

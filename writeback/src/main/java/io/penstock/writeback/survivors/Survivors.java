package io.penstock.writeback.survivors;

import io.penstock.disk.DamagedLogException;
import io.penstock.disk.MappedLogReader;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The written files that the mount's former process has left in its memory. Not thread-safe. */
public final class Survivors {
    private final Map<Long, Survivor> files = new HashMap<>();

    /** Those whose description is not complete yet. */
    private final Map<Long, Survivor> begun = new HashMap<>();

    private long lastNumber;
    private long end;

    private Survivors() {}

    /** @throws DamagedLogException if the log is not what was written */
    public static Survivors read(SurvivorMemory memory) throws IOException {
        Survivors left = new Survivors();
        Path file = memory.file().path();
        left.end = MappedLogReader.read(
                file, memory.currentLog(), 0, Long.MAX_VALUE, true, record -> left.apply(file, record));
        return left;
    }

    private void apply(Path file, ByteBuffer record) throws IOException {
        byte kind = record.get();
        long number = record.getLong();
        lastNumber = Math.max(lastNumber, number);
        switch (kind) {
            case SurvivorLog.BEGIN -> {
                byte[] header = new byte[record.remaining()];
                record.get(header);
                DataInputStream from = new DataInputStream(new ByteArrayInputStream(header));
                begun.put(number, new Survivor(number, Survivor.Header.decode(from)));
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
                Survivor of = files.get(number);
                if (of != null) {
                    of.wrote(
                            record.getLong(),
                            record.getInt(),
                            record.getLong(),
                            record.getLong(),
                            Instant.ofEpochSecond(record.getLong(), record.getInt()));
                }
            }
            case SurvivorLog.ENDED -> files.remove(number);
            case SurvivorLog.LAST -> {}
            default -> throw new DamagedLogException(file, "it has a record of an unknown kind");
        }
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

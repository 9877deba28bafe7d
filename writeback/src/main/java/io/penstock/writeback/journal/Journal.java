package io.penstock.writeback.journal;

import io.penstock.disk.DataFolder;
import io.penstock.disk.RecordLog;
import java.io.IOException;
import java.util.function.Consumer;

/**
 * The journal of one file. Once it is closed, the file is committed or gone, and records that are appended then are dropped.
 * Safe for use by any number of threads.
 */
public final class Journal implements AutoCloseable {
    /**
     * A journal that reaches 64 MiB is compacted: reading one takes a second at most when a node restarts. A program
     * reaches that size with some 100,000 fsyncs of one open file.
     */
    private static final RecordLog.Format<JournalRecord> FORMAT = new RecordLog.Format<>(
            0x50454e53_4a4e4c_02L, // "PENSJNL", version 2
            true,
            64L << 20,
            JournalRecord::encode,
            JournalRecord::decode);

    private final RecordLog<JournalRecord> log;

    private Journal(RecordLog<JournalRecord> log) {
        this.log = log;
    }

    public static Journal create(DataFolder files, String name) throws IOException {
        return new Journal(RecordLog.create(files, name, FORMAT));
    }

    /**
     * Hands over the records of an earlier run; new records follow the last of them.
     *
     * @throws RecordLog.UnreadableException if a durable record cannot be read; the records before it were handed
     *     over
     */
    public static Journal replay(DataFolder files, String name, Consumer<JournalRecord> records) throws IOException {
        RecordLog<JournalRecord> log = RecordLog.open(files, name, FORMAT);
        try {
            log.replay(records);
            return new Journal(log);
        } catch (IOException | RuntimeException e) {
            log.close();
            throw e;
        }
    }

    public void append(JournalRecord record) throws IOException {
        try {
            log.append(record);
        } catch (IOException e) {
            throwUnlessClosed(e);
        }
    }

    private void throwUnlessClosed(IOException e) throws IOException {
        if (!log.isClosed()) {
            throw e;
        }
    }

    public boolean isLarge() {
        return log.isLarge();
    }

    /** Continues in a new, shorter file: see {@link RecordLog#compact}. */
    public synchronized void compact() throws IOException {
        try {
            log.compact(to -> {
                JournalState state = new JournalState();
                log.reread(state);
                for (JournalRecord record : state.records()) {
                    to.add(record);
                }
            });
        } catch (IOException e) {
            throwUnlessClosed(e);
        }
    }

    /** Makes durable all records that were appended before. */
    public void force() throws IOException {
        try {
            log.force();
        } catch (IOException e) {
            throwUnlessClosed(e);
        }
    }

    /** Waits for a compaction: a file that takes the journal's place later would outlive it. */
    @Override
    public synchronized void close() throws IOException {
        log.close();
    }
}

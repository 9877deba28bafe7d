package io.penstock.cache.disk;

import io.penstock.cache.disk.IndexRecord.ObjectAdded;
import io.penstock.cache.disk.IndexRecord.ObjectLent;
import io.penstock.cache.disk.IndexRecord.ObjectStreamed;
import io.penstock.cache.disk.IndexRecord.PagesStored;
import io.penstock.disk.RecordLog;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The index of the pages on disk, as the next process will find it. Safe for use by any number of threads. */
public final class PageIndex {
    private static final Logger log = LoggerFactory.getLogger(PageIndex.class);

    private final RecordLog<IndexRecord> records;
    private final ObjectTable table;
    private final PackTable packs;
    private final DiskTasks tasks;

    public PageIndex(RecordLog<IndexRecord> records, ObjectTable table, PackTable packs, DiskTasks tasks) {
        this.records = records;
        this.table = table;
        this.packs = packs;
        this.tasks = tasks;
    }

    void append(IndexRecord entry) throws IOException {
        records.append(entry);
    }

    void appendSoon(IndexRecord entry) {
        tasks.execute("write the index", () -> append(entry));
    }

    interface Freeing {
        /** Returns false if nothing can be freed. */
        boolean run() throws IOException;
    }

    /**
     * Records the removal of pages before removing them: after a crash in between, remaining records would make them
     * look damaged. On a full disk, the record fits only after they are gone.
     */
    boolean appendBefore(IndexRecord entry, Freeing freeing) throws IOException {
        boolean noted = false;
        try {
            append(entry);
            noted = true;
        } catch (IOException e) {
            if (records.isClosed()) {
                throw e; // another process may own the folder
            }
            log.debug("Not recorded before it is freed: {}", entry, e);
        }
        boolean freed = freeing.run();
        if (!noted) {
            append(entry);
        }
        return freed;
    }

    /** If the index is large, compacts it on another thread. */
    void compactIfLarge() {
        if (records.isLarge()) {
            tasks.execute("rewrite the index", () -> {
                if (records.isLarge()) { // no other task has done so
                    compact();
                }
            });
        }
    }

    void compact() throws IOException {
        records.compact(this::snapshot);
    }

    /** The current state. Changes during the snapshot are appended after it, so no record is about to be superseded. */
    private void snapshot(RecordLog.Sink<IndexRecord> to) throws IOException {
        for (ObjectExtents object : table.all()) {
            if (object.hasFile()) {
                to.add(ObjectAdded.of(object));
                if (object.readShape() != ReadShape.UNKNOWN) {
                    to.add(ObjectStreamed.of(object));
                }
                if (object.wasLent()) {
                    to.add(new ObjectLent(object.fileName()));
                }
                for (Extent extent : object.stored().extents()) {
                    PagesStored stored = extent.toRecord();
                    if (stored != null) {
                        to.add(stored);
                    }
                }
            }
        }
        for (PackedPage page : packs.all()) { // after their packs
            if (page.isThere()) {
                to.add(page.toRecord());
            }
        }
    }
}

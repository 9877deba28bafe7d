package io.penstock.cache;

import io.penstock.cache.disk.Counters;
import io.penstock.cache.disk.DiskTasks;
import io.penstock.cache.disk.ObjectExtents;
import io.penstock.cache.disk.ObjectTable;
import io.penstock.cache.disk.PageGeometry;
import io.penstock.cache.disk.PageWrites;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Has complete pages written to disk, in the background, on a few threads of its own. A page that cannot be
 * written stays in memory as long as there is room, and is Missing after that. Safe for use by any number of threads.
 */
final class WriteBehind {
    private final PageMemory memory;
    private final PageWrites writes;
    private final DiskTasks tasks;
    private final ObjectTable<?> table;
    private final Counters counters;
    private final AtomicLong unwrittenBytes = new AtomicLong();

    WriteBehind(PageMemory memory, PageWrites writes, DiskTasks tasks, ObjectTable<?> table, Counters counters) {
        this.memory = memory;
        this.writes = writes;
        this.tasks = tasks;
        this.table = table;
        this.counters = counters;
    }

    /**
     * How much may wait for the disk with each page of a fill, in bytes; 0 if none of them is to be written. Decided once for
     * all of them, so that pages on disk lie in long runs, and a later read needs few GETs for those between.
     *
     * <p>Where the disk is slower than the store, readers go on at the store's pace: their fills are written while less than half
     * of the memory waits, and until an eighth more does. Pages that are to be read from disk come at its pace: as much of
     * them waits as may be busy before they give way.
     *
     * @param first page of the fill, which is complete
     */
    long mostUnwritten(PageFrame first, Urgency urgency) {
        long budget = memory.budgetBytes();
        return switch (urgency) {
            case DEMAND, READAHEAD -> unwrittenBytes.get() + first.chunk().size() > budget / 2 ? 0 : budget / 8 * 5;
            case LATER -> PageMemory.readaheadLimit(budget);
        };
    }

    /**
     * Has a complete page written, and from then on keeps it in memory only while there is room.
     *
     * @param mostUnwritten as {@link #mostUnwritten} gives it: if more waits with this page, it stays in memory only
     */
    void write(ObjectExtents object, PageFrame frame, long mostUnwritten) {
        frame.setUnwritten(true);
        if (unwrittenBytes.addAndGet(frame.chunk().size()) > mostUnwritten
                || !writes.areAllowed()
                || !table.retain(object)) {
            ended(frame, false);
            return;
        }
        boolean accepted = tasks.execute("write a page", () -> {
            boolean stored = false;
            try {
                stored = writes.write(object, frame.page(), frame.bytes());
            } finally {
                ended(frame, stored);
                table.release(object);
            }
        });
        if (!accepted) {
            ended(frame, false);
            table.release(object);
        }
    }

    /** Whether any page would stay in memory only, as too many wait for the disk. */
    boolean isFull() {
        return unwrittenBytes.get() + PageGeometry.PAGE_SIZE > PageMemory.readaheadLimit(memory.budgetBytes());
    }

    private void ended(PageFrame frame, boolean stored) {
        if (!stored) {
            counters.unstoredPages.increment();
        }
        frame.setUnwritten(false);
        unwrittenBytes.addAndGet(-frame.chunk().size());
        memory.keep(frame);
        frame.release();
    }
}

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

    /** Has a complete page written, and from then on keeps it in memory only while there is room. */
    void write(ObjectExtents object, PageFrame frame, Urgency urgency) {
        frame.setUnwritten(true);
        if (unwrittenBytes.addAndGet(frame.chunk().size()) > memory.unwrittenLimit(urgency) // more stay in memory only
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
        return unwrittenBytes.get() + PageGeometry.PAGE_SIZE > memory.unwrittenLimit(Urgency.LATER);
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

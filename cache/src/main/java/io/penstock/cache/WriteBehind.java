package io.penstock.cache;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.cache.Slab.Chunk;
import io.penstock.cache.disk.Counters;
import io.penstock.cache.disk.DiskTasks;
import io.penstock.cache.disk.ObjectExtents;
import io.penstock.cache.disk.ObjectTable;
import io.penstock.cache.disk.PageGeometry;
import io.penstock.cache.disk.PageWrites;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * Writes complete pages to disk in the background, on a few threads. A page that cannot be written stays in memory
 * while there is room, and is then Missing. Safe for use by any number of threads.
 */
final class WriteBehind {
    private final PageMemory memory;
    private final PageWrites writes;
    private final DiskTasks tasks;
    private final ObjectTable table;
    private final Counters counters;

    /** The number of pages in each slab that wait for the disk. */
    @GuardedBy("this")
    private final Map<Slab, Integer> unwritten = new HashMap<>();

    @GuardedBy("this")
    private long unwrittenBytes;

    WriteBehind(PageMemory memory, PageWrites writes, DiskTasks tasks, ObjectTable table, Counters counters) {
        this.memory = memory;
        this.writes = writes;
        this.tasks = tasks;
        this.table = table;
        this.counters = counters;
    }

    /**
     * How many bytes may wait for the disk when a page of the fill is added; 0 if none of its pages will be written.
     * Decided once per fill, so that pages on disk form long runs, and a later read needs few GETs for the gaps.
     *
     * <p>If the disk is slower than the store, readers continue at the store's speed: a fill is written if less than
     * half of the memory waits, and until an eighth more does. Pages that will be read from disk come at the disk's
     * speed: as much of them waits as may be busy before they give way.
     *
     * @param first page of the fill, which is complete
     */
    synchronized long mostUnwritten(PageFrame first, Urgency urgency) {
        long budget = memory.budgetBytes();
        return switch (urgency) {
            case DEMAND, READAHEAD -> unwrittenBytes + first.chunk().size() > budget / 2 ? 0 : budget / 8 * 5;
            case LATER -> PageMemory.readaheadLimit(budget);
        };
    }

    /**
     * Queues a complete page for writing, after which it stays in memory only while there is room.
     *
     * @param mostUnwritten from {@link #mostUnwritten}: if more would wait with this page, it stays in memory only
     */
    void write(ObjectExtents object, PageFrame frame, long mostUnwritten) {
        frame.setUnwritten(true);
        if (!writes.areAllowed() || !begins(frame.chunk(), mostUnwritten)) {
            leave(frame, false);
        } else if (!table.retain(object)) {
            ended(frame, false);
        } else if (!tasks.execute("write a page", () -> write(object, frame))) {
            ended(frame, false);
            table.release(object);
        }
    }

    private void write(ObjectExtents object, PageFrame frame) throws IOException {
        boolean stored = false;
        try {
            stored = writes.write(object, frame.page(), frame.bytes());
        } finally {
            ended(frame, stored);
            table.release(object);
        }
    }

    private synchronized boolean begins(Chunk chunk, long mostUnwritten) {
        boolean begins = unwrittenBytes + chunk.size() <= mostUnwritten
                && (unwritten.containsKey(chunk.slab()) || unwritten.size() < mostSlabs());
        if (begins) {
            unwrittenBytes += chunk.size();
            unwritten.merge(chunk.slab(), 1, Integer::sum);
        }
        return begins;
    }

    /** An eighth of the slabs has no page waiting; else a small page in each could make all large ones wait. */
    private int mostSlabs() {
        int slabs = (int) (memory.budgetBytes() / PageGeometry.PAGE_SIZE);
        return Math.max(1, slabs - Math.ceilDiv(slabs, 8));
    }

    /** Whether another page would stay in memory only, because too many wait for the disk. */
    synchronized boolean isFull() {
        return unwrittenBytes + PageGeometry.PAGE_SIZE > PageMemory.readaheadLimit(memory.budgetBytes())
                || unwritten.size() >= mostSlabs();
    }

    private void ended(PageFrame frame, boolean stored) {
        forget(frame.chunk());
        leave(frame, stored);
    }

    private synchronized void forget(Chunk chunk) {
        unwrittenBytes -= chunk.size();
        unwritten.computeIfPresent(chunk.slab(), (_, pages) -> pages == 1 ? null : pages - 1);
    }

    private void leave(PageFrame frame, boolean stored) {
        if (!stored) {
            counters.unstoredPages.increment();
        }
        frame.setUnwritten(false);
        memory.keep(frame);
        frame.release();
    }
}

package io.penstock.cache;

import io.penstock.cache.CachedObject.Storing;
import io.penstock.cache.PageFrame.Origin;
import io.penstock.cache.Slab.Chunk;
import io.penstock.cache.disk.Counters;
import io.penstock.cache.disk.ObjectExtents;
import io.penstock.cache.disk.ObjectTable;
import io.penstock.cache.disk.PageStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The pages of one object version: its frames in memory, next to its extents on disk, and claims of Missing pages.
 * There is one while the object is open or has frames.
 *
 * <p>A claim adds a frame where there is none, and then checks again whether the page is on disk. A page is marked as
 * stored before its frame goes, so no claim can slip in between.
 */
final class ObjectPages implements ObjectExtents.InMemory, PageFrame.Owner {
    private final Shared shared;
    private final ObjectExtents extents;
    private final ConcurrentHashMap<Integer, PageFrame> frames = new ConcurrentHashMap<>();

    /** Shared by all objects of a cache. */
    record Shared(ObjectTable table, PageMemory memory, PageStore store, WriteBehind writeBehind, Counters counters) {}

    private ObjectPages(Shared shared, ObjectExtents extents) {
        this.shared = shared;
        this.extents = extents;
    }

    /** The pages of an object that the caller has retained. */
    static ObjectPages of(ObjectExtents extents, Shared shared) {
        return (ObjectPages) extents.memory(object -> new ObjectPages(shared, object)); // there are no others
    }

    /** The current frame of an object's page; null if it is not in memory. */
    static @Nullable PageFrame frame(ObjectExtents extents, int page) {
        return extents.memory() instanceof ObjectPages pages ? pages.frame(page) : null;
    }

    ObjectExtents extents() {
        return extents;
    }

    @Override
    public PageMemory memory() {
        return shared.memory();
    }

    // ---- calls by readers and fetchers

    PageState state(int page) {
        PageFrame frame = frame(page);
        if (frame != null && !frame.isComplete() && frame.origin() == Origin.STORE) {
            return PageState.INFLIGHT;
        }
        return frame != null || shared.store().has(extents, page) ? PageState.READY : PageState.MISSING;
    }

    @Nullable
    Fill claim(int from, int to, Urgency urgency) throws InterruptedException {
        for (int page = from; page < to; page++) {
            PageFrame first = switch (urgency) {
                case READAHEAD, LATER -> tryClaim(page, urgency);
                case DEMAND -> claimWithoutMemory(page);
            };
            if (first != null) {
                long waited = urgency == Urgency.DEMAND ? waitForMemory(first) : 0;
                return extended(first, to, urgency, waited);
            }
            if (urgency != Urgency.DEMAND && state(page) == PageState.MISSING) {
                return null; // memory is short
            }
        }
        return null;
    }

    /**
     * The claim comes first, so that only one of a page's many readers waits for memory.
     *
     * @return how long it waited, in nanoseconds; 0 if there was memory
     */
    long waitForMemory(PageFrame frame) throws InterruptedException {
        boolean granted = false;
        try {
            long waited = 0;
            Chunk chunk = memory().tryAcquire(frame.length(), Urgency.DEMAND);
            if (chunk == null) {
                long begun = System.nanoTime();
                chunk = memory().acquire(frame.length());
                waited = System.nanoTime() - begun;
            }
            frame.setChunk(chunk);
            granted = true;
            return waited;
        } finally {
            if (!granted) {
                abandon(frame);
            }
        }
    }

    private Fill extended(PageFrame first, int to, Urgency urgency, long memoryNanos) {
        List<PageFrame> run = new ArrayList<>();
        boolean done = false;
        try {
            PageFrame next = first;
            while (next != null) {
                run.add(next);
                int page = next.page() + 1;
                next = page < to ? tryClaim(page, urgency) : null;
            }
            done = true;
            return new Fill(this, run, urgency, memoryNanos);
        } finally {
            if (!done) {
                run.forEach(this::abandon);
            }
        }
    }

    private @Nullable PageFrame tryClaim(int page, Urgency urgency) {
        if (state(page) != PageState.MISSING) {
            return null;
        }
        Chunk chunk = memory().tryAcquire(extents.pageLength(page), urgency);
        if (chunk == null) {
            return null;
        }
        PageFrame frame = claimWithoutMemory(page);
        if (frame == null) {
            memory().free(chunk);
            return null;
        }
        frame.setChunk(chunk);
        return frame;
    }

    private @Nullable PageFrame claimWithoutMemory(int page) {
        if (state(page) != PageState.MISSING) {
            return null;
        }
        PageFrame frame = newFrame(page, Origin.STORE);
        if (!addFrame(frame)) {
            return null;
        }
        if (shared.store().has(extents, page)) { // stored since the first look, and its frame evicted
            abandon(frame);
            return null;
        }
        return frame;
    }

    /** Removes the frame as if it had never existed. */
    void abandon(PageFrame frame) {
        boolean current = removeFrame(frame);
        frame.cancel();
        frame.release();
        if (current) {
            frame.release();
        }
    }

    @Override
    public void readerWaits() {
        shared.counters().waits.increment();
    }

    @Override
    public void readerWaited(long nanos) {
        shared.counters().waitNanos.add(nanos);
    }

    // ---- calls by a fill

    /** {@link WriteBehind#mostUnwritten}, for all pages of the fill. */
    long mostUnwritten(PageFrame first, Urgency urgency) {
        return shared.writeBehind().mostUnwritten(first, urgency);
    }

    void completed(PageFrame frame, long mostUnwritten) {
        shared.counters().filledPages.increment();
        shared.writeBehind().write(extents, frame, mostUnwritten);
    }

    void failed(PageFrame frame, Exception cause) {
        shared.counters().failedFills.increment();
        boolean current = removeFrame(frame);
        frame.fail(cause);
        frame.release();
        if (current) {
            frame.release();
        }
    }

    /** Has a page that is only in memory written to disk: see {@link CachedObject#store}. */
    Storing store(int page) {
        PageFrame frame = frame(page);
        if (shared.store().has(extents, page)) {
            return Storing.STORED;
        } else if (frame == null) {
            return shared.store().has(extents, page) ? Storing.STORED : Storing.MISSING;
        } else if (!frame.isComplete()
                || frame.isUnwritten()
                || shared.writeBehind().isFull()) {
            return Storing.UNDER_WAY;
        } else if (frame.tryRetain()) {
            shared.writeBehind().write(extents, frame, mostUnwritten(frame, Urgency.LATER));
        }
        return Storing.TRIED;
    }

    // ---- frames

    PageFrame newFrame(int page, Origin origin) {
        return new PageFrame(this, page, extents.pageLength(page), origin);
    }

    @Override
    public @Nullable PageFrame frame(int page) {
        return frames.get(page);
    }

    /** Makes the frame current, unless its page has one. The caller must hold a reference to the object. */
    boolean addFrame(PageFrame frame) {
        if (extents.memory() != this) {
            throw new IllegalStateException("used after it was closed");
        }
        return frames.putIfAbsent(frame.page(), frame) == null;
    }

    @Override
    public boolean removeFrame(PageFrame frame) {
        if (!frames.remove(frame.page(), frame)) {
            return false;
        }
        if (frames.isEmpty()) {
            shared.table().forgetIfUnusedNow(extents);
        }
        return true;
    }

    @Override
    public void discard() {
        frames.values().stream().filter(PageFrame::isComplete).forEach(memory()::discard);
    }

    @Override
    public boolean isEmpty() {
        return frames.isEmpty();
    }

    /** Drops the reference taken by {@link ObjectTable#retain}. */
    void release() {
        shared.table().release(extents);
    }
}

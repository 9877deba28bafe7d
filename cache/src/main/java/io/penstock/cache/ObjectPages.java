package io.penstock.cache;

import io.penstock.cache.CachedObject.Storing;
import io.penstock.cache.PageFrame.Origin;
import io.penstock.cache.Slab.Chunk;
import io.penstock.cache.disk.Counters;
import io.penstock.cache.disk.ObjectExtents;
import io.penstock.cache.disk.ObjectId;
import io.penstock.cache.disk.ObjectTable;
import io.penstock.cache.disk.PageGeometry;
import io.penstock.cache.disk.PageStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The pages of one object version: frames in memory, in addition to extents on disk, and claims of Missing pages.
 *
 * <p>A claim adds a frame where there is none, and then checks again whether the page is on disk. A page is marked as
 * stored before its frame goes, so no claim can slip in between.
 */
final class ObjectPages extends ObjectExtents implements PageFrame.Owner {
    private final Shared shared;

    /** Null while the object is not open and no page of it is in memory. Set under {@link ObjectTable}'s lock. */
    private volatile @Nullable ConcurrentHashMap<Integer, PageFrame> frames;

    /** Shared by all objects of a cache. */
    record Shared(
            ObjectTable<ObjectPages> table,
            PageMemory memory,
            PageStore store,
            WriteBehind writeBehind,
            Counters counters,
            int pagesPerExtent) {}

    ObjectPages(Shared shared, ObjectId id, long size, PageGeometry geometry) {
        this(shared, id, size, geometry, ThreadLocalRandom.current().nextLong(), false);
    }

    ObjectPages(Shared shared, ObjectId id, long size, PageGeometry geometry, long fileName, boolean fileExists) {
        super(id, size, geometry, fileName, fileExists, shared.pagesPerExtent());
        this.shared = shared;
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
        return frame != null || shared.store().has(this, page) ? PageState.READY : PageState.MISSING;
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
        Chunk chunk = memory().tryAcquire(pageLength(page), urgency);
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
        if (shared.store().has(this, page)) { // stored since the first look, and its frame evicted
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
        shared.writeBehind().write(this, frame, mostUnwritten);
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
        if (shared.store().has(this, page)) {
            return Storing.STORED;
        } else if (frame == null) {
            return shared.store().has(this, page) ? Storing.STORED : Storing.MISSING;
        } else if (!frame.isComplete()
                || frame.isUnwritten()
                || shared.writeBehind().isFull()) {
            return Storing.UNDER_WAY;
        } else if (frame.tryRetain()) {
            shared.writeBehind().write(this, frame, mostUnwritten(frame, Urgency.LATER));
        }
        return Storing.TRIED;
    }

    // ---- frames

    PageFrame newFrame(int page, Origin origin) {
        return new PageFrame(this, page, pageLength(page), origin);
    }

    @Override
    public @Nullable PageFrame frame(int page) {
        ConcurrentHashMap<Integer, PageFrame> map = frames;
        return map == null ? null : map.get(page);
    }

    /** Makes the frame current, unless its page has one. The caller must hold a reference to this object. */
    boolean addFrame(PageFrame frame) {
        ConcurrentHashMap<Integer, PageFrame> map = frames;
        if (map == null) {
            throw new IllegalStateException("used after it was closed");
        }
        return map.putIfAbsent(frame.page(), frame) == null;
    }

    @Override
    public boolean removeFrame(PageFrame frame) {
        ConcurrentHashMap<Integer, PageFrame> map = frames;
        if (map == null || !map.remove(frame.page(), frame)) {
            return false;
        }
        if (map.isEmpty()) {
            shared.table().forgetIfUnusedNow(this);
        }
        return true;
    }

    @Override
    protected void discardFrames() {
        ConcurrentHashMap<Integer, PageFrame> map = frames;
        if (map != null) {
            map.values().stream().filter(PageFrame::isComplete).forEach(memory()::discard);
        }
    }

    @Override
    protected boolean hasFrames() {
        ConcurrentHashMap<Integer, PageFrame> map = frames;
        if (map != null && !map.isEmpty()) {
            return true;
        }
        frames = null;
        return false;
    }

    // ---- lifetime

    @Override
    protected void retained() {
        super.retained();
        if (frames == null) {
            frames = new ConcurrentHashMap<>();
        }
    }

    /** Drops the reference taken by {@link ObjectTable#retain}. */
    void release() {
        shared.table().release(this);
    }

    @Override
    protected void forgotten() {
        if (hasFile()) {
            shared.store().removeFile(this);
        }
    }
}

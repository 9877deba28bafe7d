package io.penstock.cache;

import io.penstock.cache.CachedObject.FromDisk;
import io.penstock.cache.PageFrame.Origin;
import io.penstock.cache.Slab.Chunk;
import io.penstock.cache.disk.Counters;
import io.penstock.cache.disk.ObjectExtents;
import io.penstock.cache.disk.PageStore;
import io.penstock.cache.disk.StoredPage;
import io.penstock.core.LentBytes;
import io.penstock.core.NoWait;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Reads of one object's pages, from memory and from disk. Stateless. */
final class PageReads {
    /** The kernel's smallest readahead, which is enough for sequential reads smaller than this. */
    private static final int READAHEAD_BYTES = 128 << 10;

    /** Enough for one stream to keep an NVMe drive busy. */
    private static final int PAGES_AHEAD = 3;

    /** Instead of a byte count: the page is no longer where it was. */
    private static final int LOOK_AGAIN = 0;

    private final ObjectPages pages;
    private final ObjectExtents extents;
    private final PageStore store;
    private final Counters counters;

    PageReads(ObjectPages pages, PageStore store, Counters counters) {
        this.pages = pages;
        this.extents = pages.extents();
        this.store = store;
        this.counters = counters;
    }

    /** @param loans replaces large copies; settled before any wait */
    int read(long position, ByteBuffer to, @Nullable LentBytes loans, FromDisk how)
            throws FillFailedException, InterruptedException {
        if (position >= extents.size() || !to.hasRemaining()) {
            return 0;
        }
        int page = extents.geometry().pageAt(position);
        int offset = (int) (position - extents.geometry().start(page));
        int end = Math.min(extents.pageLength(page), offset + to.remaining());
        while (true) {
            PageFrame frame = pages.frame(page);
            int count;
            if (frame != null) {
                count = readFrame(frame, offset, end, to, loans, how != FromDisk.NEVER);
            } else if (how == FromDisk.NEVER) {
                count = store.has(extents, page) ? NoWait.WOULD_WAIT : CachedObject.MISSING;
            } else {
                count = readFromDisk(page, offset, to, loans, how);
            }
            if (count != LOOK_AGAIN) {
                return count;
            }
        }
    }

    private int readFrame(
            PageFrame frame, int offset, int end, ByteBuffer to, @Nullable LentBytes loans, boolean mayWait)
            throws FillFailedException, InterruptedException {
        if (!frame.tryRetain()) {
            return LOOK_AGAIN;
        }
        try {
            if (frame.has(end)) {
                int count = take(frame, offset, to, loans);
                counters.readFromMemory(count);
                return count;
            } else if (!mayWait) {
                return NoWait.WOULD_WAIT;
            }
            settle(to, loans);
            if (!frame.await(end)) {
                return LOOK_AGAIN;
            }
            int count = take(frame, offset, to, loans);
            counters.waitedReadBytes.add(count);
            return count;
        } finally {
            frame.release();
        }
    }

    private static int take(PageFrame frame, int offset, ByteBuffer to, @Nullable LentBytes loans) {
        return loans == null ? frame.copy(offset, to) : frame.lend(offset, to, loans);
    }

    private static void settle(ByteBuffer to, @Nullable LentBytes loans) {
        if (loans != null) {
            loans.settle(to);
        }
    }

    private int readFromDisk(int page, int offset, ByteBuffer to, @Nullable LentBytes loans, FromDisk how)
            throws InterruptedException {
        StoredPage stored = store.find(extents, page);
        if (stored != null) {
            settle(to, loans);
            long begun = System.nanoTime();
            try {
                return readStored(stored, page, offset, to, loans, how);
            } finally {
                counters.diskNanos.add(System.nanoTime() - begun);
            }
        }
        if (pages.frame(page) != null) {
            return LOOK_AGAIN; // claimed since
        }
        counters.misses.increment();
        return CachedObject.MISSING;
    }

    /** Bytes read, or {@link #LOOK_AGAIN}. */
    private int readStored(
            StoredPage stored, int page, int offset, ByteBuffer to, @Nullable LentBytes loans, FromDisk how)
            throws InterruptedException {
        if (how == FromDisk.CHECKED || !stored.isVerified()) {
            PageFrame frame = pages.newFrame(page, Origin.DISK);
            if (!pages.addFrame(frame)) {
                return 0;
            }
            long _ = pages.waitForMemory(frame);
            return load(stored, frame, offset, to, loans);
        }
        // Per byte, loading whole pages takes a fifth of the CPU time of small reads: it bypasses the kernel's cache
        // (ADR 3).
        if (how == FromDisk.SEQUENTIAL && to.remaining() >= READAHEAD_BYTES) {
            PageFrame frame = tryFrame(page);
            if (frame != null) {
                return loadAndMore(stored, frame, offset, to, loans);
            }
        }
        int count = store.read(stored, offset, to);
        if (count > 0) {
            counters.readFromDisk(count);
        }
        return count;
    }

    /** A frame for loading a stored page, if there is memory to spare and no other thread loads it. */
    private @Nullable PageFrame tryFrame(int page) {
        Chunk chunk = pages.frame(page) == null
                ? pages.memory().tryAcquire(extents.pageLength(page), Urgency.READAHEAD)
                : null;
        if (chunk == null) {
            return null;
        }
        PageFrame frame = pages.newFrame(page, Origin.DISK);
        frame.setChunk(chunk);
        if (!pages.addFrame(frame)) {
            pages.memory().free(chunk);
            return null;
        }
        return frame;
    }

    /** Loads this page and those after it; the later ones are requested first. */
    private int loadAndMore(StoredPage stored, PageFrame frame, int offset, ByteBuffer to, @Nullable LentBytes loans)
            throws InterruptedException {
        boolean asked = false;
        try {
            loadAhead(frame.page());
            asked = true;
        } finally {
            if (!asked) {
                pages.abandon(frame);
            }
        }
        return load(stored, frame, offset, to, loans);
    }

    /** Loads those of the following pages that are stored, as the kernel would do if it saw these reads. */
    private void loadAhead(int page) {
        for (int next = page + 1; next <= page + PAGES_AHEAD && next < extents.pageCount(); next++) {
            StoredPage stored = store.find(extents, next);
            PageFrame frame = stored == null ? null : tryFrame(next);
            if (stored != null && frame != null) {
                store.loadAhead(extents, () -> load(stored, frame));
            }
        }
    }

    private int load(StoredPage stored, PageFrame frame, int offset, ByteBuffer to, @Nullable LentBytes loans)
            throws InterruptedException {
        frame.retain();
        try {
            if (!loadInSlot(stored, frame)) {
                return 0;
            }
            int count = take(frame, offset, to, loans);
            counters.readFromDisk(count);
            return count;
        } finally {
            frame.release();
        }
    }

    private boolean loadInSlot(StoredPage stored, PageFrame frame) throws InterruptedException {
        try {
            return store.slots().run(() -> load(stored, frame));
        } catch (InterruptedException e) {
            pages.abandon(frame); // it got no slot
            throw e;
        }
    }

    /** The frame must never stay without its bytes, whatever happens: its readers would wait forever. */
    private boolean load(StoredPage stored, PageFrame frame) {
        boolean loaded = false;
        try {
            loaded = store.load(stored, frame.bytes());
        } finally {
            if (!loaded) {
                pages.abandon(frame);
            }
        }
        if (loaded) {
            frame.arrived(frame.length());
            pages.memory().keep(frame);
            frame.release();
        }
        return loaded;
    }
}

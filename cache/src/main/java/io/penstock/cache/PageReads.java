package io.penstock.cache;

import io.penstock.cache.ObjectPages.Shared;
import io.penstock.cache.PageFrame.Origin;
import io.penstock.cache.Slab.Piece;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Reads of one object's pages, from memory and from disk. Has no state of its own. */
final class PageReads {
    /** From this on a read is taken for part of a sequential one: the kernel's smallest readahead. */
    private static final int SEQUENTIAL_BYTES = 128 << 10;

    /** Enough for one stream to keep an NVMe busy. */
    private static final int PAGES_AHEAD = 3;

    /** Instead of a number of bytes: the page is not any more where it was. */
    private static final int LOOK_AGAIN = 0;

    private final ObjectPages pages;
    private final Shared shared;

    PageReads(ObjectPages pages, Shared shared) {
        this.pages = pages;
        this.shared = shared;
    }

    int read(long position, ByteBuffer to) throws FillFailedException, InterruptedException {
        if (position >= pages.size() || !to.hasRemaining()) {
            return 0;
        }
        int page = (int) (position >> ObjectPages.PAGE_SHIFT);
        int offset = (int) (position - ObjectPages.pageStart(page));
        int end = Math.min(pages.pageLength(page), offset + to.remaining());
        while (true) {
            PageFrame frame = pages.frame(page);
            int count = frame != null ? readFrame(frame, offset, end, to) : readFromDisk(page, offset, to);
            if (count != LOOK_AGAIN) {
                return count;
            }
        }
    }

    private int readFrame(PageFrame frame, int offset, int end, ByteBuffer to)
            throws FillFailedException, InterruptedException {
        if (!frame.tryRetain()) {
            return LOOK_AGAIN;
        }
        try {
            return arrived(frame, end) ? frame.copy(offset, to) : LOOK_AGAIN;
        } finally {
            frame.release();
        }
    }

    private int readFromDisk(int page, int offset, ByteBuffer to) throws InterruptedException {
        Extent extent = pages.extent(page);
        if (extent != null && shared.store().has(pages, page)) {
            return readStored(extent, page, offset, to);
        }
        if (pages.frame(page) != null) {
            return LOOK_AGAIN; // claimed since
        }
        shared.counters().misses.increment();
        return CachedObject.MISSING;
    }

    private boolean arrived(PageFrame frame, int end) throws FillFailedException, InterruptedException {
        if (frame.has(end)) {
            shared.counters().memoryHits.increment();
            return true;
        }
        return frame.await(end);
    }

    /** Bytes read, or {@link #LOOK_AGAIN}. */
    private int readStored(Extent extent, int page, int offset, ByteBuffer to) throws InterruptedException {
        if (!extent.isVerified(page)) {
            PageFrame frame = new PageFrame(pages, page, Origin.DISK);
            if (!pages.addFrame(frame)) {
                return 0;
            }
            pages.waitForMemory(frame);
            return load(extent, frame, offset, to);
        }
        if (isSequential(page, offset, to)) {
            PageFrame frame = tryFrame(page);
            if (frame != null) {
                loadAhead(page);
                return load(extent, frame, offset, to);
            }
        }
        int count = shared.store().read(extent, page, offset, to);
        if (count > 0) {
            shared.counters().diskHits.increment();
        }
        return count;
    }

    /**
     * Whether the rest of the page will be wanted too: a large read at its start, or behind a page that is in memory. A
     * whole page costs a fifth of the CPU per byte that small reads cost, as it goes past the page cache (ADR 3).
     */
    private boolean isSequential(int page, int offset, ByteBuffer to) {
        return to.remaining() >= SEQUENTIAL_BYTES && (offset == 0 || pages.frame(page - 1) != null);
    }

    /** A frame to read a stored page into, if there is memory to spare and nobody else does. */
    private @Nullable PageFrame tryFrame(int page) {
        Piece piece =
                pages.frame(page) == null ? pages.memory().tryAcquire(pages.pageLength(page), Urgency.READAHEAD) : null;
        if (piece == null) {
            return null;
        }
        PageFrame frame = new PageFrame(pages, page, Origin.DISK);
        frame.setPiece(piece);
        if (!pages.addFrame(frame)) {
            pages.memory().free(piece);
            return null;
        }
        return frame;
    }

    /** What the kernel would read ahead if it saw these reads. */
    private void loadAhead(int page) {
        for (int next = page + 1; next <= page + PAGES_AHEAD && next < pages.pageCount(); next++) {
            Extent extent = pages.extent(next);
            if (extent == null || !shared.store().has(pages, next)) {
                return;
            }
            PageFrame frame = tryFrame(next);
            if (frame != null) {
                shared.store().loadAhead(pages, () -> load(extent, frame));
            }
        }
    }

    private int load(Extent extent, PageFrame frame, int offset, ByteBuffer to) {
        frame.retain();
        try {
            if (!load(extent, frame)) {
                return 0;
            }
            shared.counters().diskHits.increment();
            return frame.copy(offset, to);
        } finally {
            frame.release();
        }
    }

    private boolean load(Extent extent, PageFrame frame) {
        if (!shared.store().load(extent, frame.page(), frame.bytes())) {
            pages.abandon(frame);
            return false;
        }
        frame.arrived(frame.length());
        pages.memory().keep(frame);
        frame.release();
        return true;
    }

    int readNow(long position, ByteBuffer to) {
        if (position >= pages.size() || !to.hasRemaining()) {
            return 0;
        }
        int page = (int) (position >> ObjectPages.PAGE_SHIFT);
        int offset = (int) (position - ObjectPages.pageStart(page));
        PageFrame frame = pages.frame(page);
        if (frame == null) {
            return shared.store().has(pages, page) ? CachedObject.WOULD_WAIT : CachedObject.MISSING;
        }
        if (!frame.has(Math.min(frame.length(), offset + to.remaining())) || !frame.tryRetain()) {
            return CachedObject.WOULD_WAIT;
        }
        try {
            shared.counters().memoryHits.increment();
            return frame.copy(offset, to);
        } finally {
            frame.release();
        }
    }
}

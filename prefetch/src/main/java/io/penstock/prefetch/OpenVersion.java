package io.penstock.prefetch;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static io.penstock.cache.PageCache.SECTOR_SIZE;
import static java.util.Objects.requireNonNull;

import io.penstock.cache.CachedObject;
import io.penstock.cache.Fill;
import io.penstock.cache.PageState;
import io.penstock.cache.Urgency;
import io.penstock.cache.disk.ReadShape;
import io.penstock.core.ByteRange;
import io.penstock.objectstore.ObjectStoreException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One open object version, shared by all its readers.
 *
 * <pre>
 *          last reader closes          no reader follows             last fetch ends
 *   OPEN ◀────────────────────▶ PAUSED ───────────────────▶ CLOSING ─────────────────▶ CLOSED (its pages are released)
 *          another reader opens
 * </pre>
 *
 * <p>PAUSED exists only where versions linger. In it, fetches continue and no readahead begins. In CLOSING no fetch
 * begins, and fetches that no reader awaits are cancelled. A reader that then opens the version gets another
 * OpenVersion; the cache's claims keep the two from fetching the same page.
 */
final class OpenVersion {
    final CachedObject cached;

    /** Sectors that were fetched without the rest of their page; null for a small object, which is fetched whole. */
    final @Nullable CachedObject sectors;

    final Streams streams;

    /** Written before the object is published. */
    ReadHistory history = new ReadHistory();

    /** Guarded by the {@link OpenVersionTable} that holds this object. */
    int readers;

    /** One use for all readers together, and one for each fetch. At 0 it is CLOSED permanently. */
    private final AtomicInteger uses = new AtomicInteger(1);

    /** Written once, before the fetches are cancelled, so that a fetch added at that moment finds it set. */
    private volatile boolean closing;

    /** Whether it has no reader at the moment: no GET begins. */
    private volatile boolean paused;

    private final Set<RangeFetch> fetches = ConcurrentHashMap.newKeySet();

    OpenVersion(CachedObject cached, @Nullable CachedObject sectors, Streams streams) {
        this.cached = cached;
        this.sectors = sectors;
        this.streams = streams;
    }

    /** Keeps the pages open for a fetch; false if it is too late. Each true must be followed by a {@link #release}. */
    boolean retain() {
        return uses.getAndUpdate(count -> count == 0 ? 0 : count + 1) > 0;
    }

    void release() {
        if (uses.decrementAndGet() == 0) {
            closePages();
        }
    }

    /** Also for an object that was never used. */
    void closePages() {
        cached.close();
        if (sectors != null) {
            sectors.close();
        }
    }

    /** Where the byte is or will be: among the sectors if they have it and its page does not. */
    CachedObject holder(long position) {
        boolean isSector = sectors != null
                && cached.state(position / PAGE_SIZE) != PageState.READY
                && sectors.state(position / SECTOR_SIZE) != PageState.MISSING;
        return isSector ? requireNonNull(sectors) : cached;
    }

    /** Runs the fetch. It is cancelled if the last reader closes and no reader awaits it. */
    void run(RangeFetch fetch, FetchGate gate) {
        fetches.add(fetch);
        try {
            if (closing) {
                fetch.cancelUnlessAwaited();
            }
            fetch.run(gate);
        } finally {
            fetches.remove(fetch);
        }
    }

    /** Records for the next open how it was read. */
    void noteShape(SiblingShapes siblings) {
        if (streams.isRead()) {
            ReadShape shape = streams.isStreamed() ? ReadShape.IN_RUNS : ReadShape.AT_RANDOM;
            cached.setReadShape(shape);
            if (sectors != null) { // else it is small, and fetched whole however it is read
                siblings.note(cached.version().key(), shape);
            }
        }
    }

    /** How it was last read; if unknown, how its siblings were. */
    ReadShape expectedShape(SiblingShapes siblings) {
        ReadShape known = cached.readShape();
        return known == ReadShape.UNKNOWN ? siblings.expected(cached.version().key()) : known;
    }

    /** The last reader has closed, and another may follow: running fetches continue, and none begins. */
    void pause() {
        paused = true;
    }

    /** Another reader has followed. */
    void resume() {
        paused = false;
    }

    /** The last reader has closed, and no other has followed. */
    void close() {
        closing = true;
        streams.close();
        fetches.forEach(RangeFetch::cancelUnlessAwaited);
        release();
    }

    /**
     * Claims the next range of the stream, which the caller holds from {@link Streams#observe}.
     *
     * @return null if the stream wants nothing now, or memory is short: the caller no longer holds the stream
     */
    @Nullable
    Fill claimReadahead(Stream stream) throws InterruptedException {
        boolean done = false;
        try {
            Fill fill = claimNext(stream);
            done = true;
            return fill;
        } finally {
            if (!done) {
                streams.giveBack(stream);
            }
        }
    }

    private @Nullable Fill claimNext(Stream stream) throws InterruptedException {
        while (!closing && !paused) {
            ByteRange range = streams.issue(stream);
            if (range == null) {
                return null;
            }
            long first = range.offset() / PAGE_SIZE;
            long end = pages(range.end());
            if (anyMissing(first, end)) {
                Fill fill = cached.claim(first, end, Urgency.READAHEAD);
                if (fill != null) {
                    streams.claimed(stream, range, fill.range());
                    return fill;
                } else if (anyMissing(first, end)) { // else others have claimed all of it by now
                    streams.pause(stream, range.offset());
                    return null;
                }
            }
        }
        streams.giveBack(stream);
        return null;
    }

    /** The exception for a reader of this byte after its fetch failed: the store's, if that was the cause. */
    ObjectStoreException storeException(Exception failure, long offset) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof ObjectStoreException known) {
                return known;
            }
        }
        return new ObjectStoreException.Unavailable(
                "reading " + cached.version().key() + " at " + offset + " was abandoned: " + failure.getMessage(),
                failure);
    }

    /** Whether a byte of {@code [from, to)} is neither cached nor in flight, or was so a moment ago. */
    boolean isMissing(long from, long to) {
        for (long at = from; at < to; ) {
            long end = Math.min((at / PAGE_SIZE + 1) * PAGE_SIZE, to);
            if (cached.state(at / PAGE_SIZE) == PageState.MISSING && !areInSectors(at, end)) {
                return true;
            }
            at = end;
        }
        return false;
    }

    /** Whether all sectors of these bytes are cached or in flight. */
    boolean areInSectors(long from, long to) {
        for (long sector = from / SECTOR_SIZE; sector * SECTOR_SIZE < to; sector++) {
            if (sectors == null || sectors.state(sector) == PageState.MISSING) {
                return false;
            }
        }
        return true;
    }

    /** Whether a page in {@code [first, end)} is Missing, or was a moment ago. */
    boolean anyMissing(long first, long end) {
        for (long page = first; page < end; page++) {
            if (cached.state(page) == PageState.MISSING) {
                return true;
            }
        }
        return false;
    }

    /** The number of Missing pages: a snapshot. Counts to at most one more than {@code most}. */
    long missingPages(long most) {
        long missing = 0;
        for (long page = 0; page < pages(cached.version().size()) && missing <= most; page++) {
            missing += cached.state(page) == PageState.MISSING ? 1 : 0;
        }
        return missing;
    }

    /** The number of pages that the first {@code bytes} bytes touch. */
    static long pages(long bytes) {
        return (bytes + PAGE_SIZE - 1) / PAGE_SIZE;
    }
}

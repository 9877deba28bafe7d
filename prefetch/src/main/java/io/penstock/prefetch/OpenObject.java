package io.penstock.prefetch;

import static io.penstock.cache.PageCache.PAGE_SIZE;

import io.penstock.cache.CachedObject;
import io.penstock.cache.Fill;
import io.penstock.cache.PageState;
import io.penstock.cache.Urgency;
import io.penstock.core.ByteRange;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One object version while it is open: what all its readers share.
 *
 * <pre>
 *          last reader closes              last fetch ends
 *   OPEN ─────────────────────▶ CLOSING ─────────────────────▶ CLOSED (its pages are given back to the cache)
 * </pre>
 *
 * <p>In CLOSING no fetch begins, and those that nobody awaits are cancelled. Whoever opens the version then gets
 * another OpenObject; the claims in the cache keep the two apart.
 */
final class OpenObject {
    final CachedObject cached;
    final Streams streams;

    /** Guarded by the map of open objects that holds this. */
    int readers;

    /** The readers together, and each fetch. At 0 it is CLOSED, for good. */
    private final AtomicInteger uses = new AtomicInteger(1);

    /** Written once; before the fetches are cancelled, so that one added meanwhile finds it set. */
    private volatile boolean closing;

    private final Set<RangeFetch> fetches = ConcurrentHashMap.newKeySet();

    OpenObject(CachedObject cached, Streams streams) {
        this.cached = cached;
        this.streams = streams;
    }

    /** Keeps the pages open for a fetch; false if it is too late. Each true needs a {@link #release}. */
    boolean retain() {
        return uses.getAndUpdate(count -> count == 0 ? 0 : count + 1) > 0;
    }

    void release() {
        if (uses.decrementAndGet() == 0) {
            cached.close();
        }
    }

    /** Runs the fetch, which is cancelled if the last reader closes and nobody awaits it. */
    void run(RangeFetch fetch, FetchGate<?> gate) {
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

    /** The last reader has closed. */
    void close() {
        closing = true;
        streams.close();
        fetches.forEach(RangeFetch::cancelUnlessAwaited);
        release();
    }

    /**
     * Claims what the stream, which {@link Streams#observe} gave to the caller, wants next.
     *
     * @return null if it wants no more for now, or memory is short: it is not the caller's any more
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
        ByteRange range;
        while (!closing && (range = streams.issue(stream)) != null) {
            long first = range.offset() / PAGE_SIZE;
            long end = pages(range.end());
            Fill fill = cached.claim(first, end, Urgency.READAHEAD);
            if (fill != null) {
                streams.claimed(stream, range, fill.range());
                return fill;
            }
            if (anyMissing(first, end)) {
                streams.pause(stream, range.offset());
                return null;
            }
        }
        return null;
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

    /** How many pages the first so many bytes take. */
    static long pages(long bytes) {
        return (bytes + PAGE_SIZE - 1) / PAGE_SIZE;
    }
}

package io.penstock.prefetch;

import static io.penstock.cache.PageCache.PAGE_SIZE;

import io.penstock.cache.CachedObject;
import io.penstock.cache.CachedObject.FromDisk;
import io.penstock.cache.Fill;
import io.penstock.cache.FillFailedException;
import io.penstock.cache.Urgency;
import io.penstock.objectstore.ObjectStoreException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Reads of one object version for another node, from the page cache or else from the store. It never asks another node,
 * so no request goes in a circle. However many nodes request a cold page, one GET fetches it: they share the claims of
 * this node's readers. Safe for use by any number of threads.
 */
public final class PeerReader implements AutoCloseable {
    private final PageFetcher fetcher;
    private final OpenVersion object;

    /** The fetches that this reader began. */
    private final List<RangeFetch> fetches = new CopyOnWriteArrayList<>();

    private final AtomicBoolean closed = new AtomicBoolean();

    PeerReader(PageFetcher fetcher, OpenVersion object) {
        this.fetcher = fetcher;
        this.object = object;
    }

    /** The node has no room for the read now. */
    public static final class BusyException extends Exception {
        private static final long serialVersionUID = 1;

        BusyException(String message) {
            super(message);
        }
    }

    /**
     * Claims the Missing pages of these bytes and begins to fetch them, with as many GETs as needed. Reads wait for
     * them.
     *
     * @param from in bytes from the start of the object
     * @param to after the last byte, within the object
     * @param urgency at the requesting node: its readahead waits for a readahead slot here
     * @return the number of GETs begun; 0 if all bytes are cached or in flight
     * @throws BusyException if memory is short, and this is readahead
     */
    public int prepare(long from, long to, Urgency urgency) throws BusyException, InterruptedException {
        long most = OpenVersion.pages(fetcher.rangeBytes(object.cached.version()));
        long end = OpenVersion.pages(to);
        int gets = 0;
        for (long page = from / PAGE_SIZE; page < end; ) {
            long boundary = Math.min((page / most + 1) * most, end);
            Fill fill = object.anyMissing(page, boundary) ? claim(page, boundary, urgency) : null;
            page = fill == null ? boundary : OpenVersion.pages(fill.range().end());
            gets += fill == null ? 0 : 1;
        }
        return gets;
    }

    private @Nullable Fill claim(long page, long end, Urgency urgency) throws BusyException, InterruptedException {
        boolean isAhead = urgency == Urgency.READAHEAD;
        if (isAhead) {
            fetcher.peerGate().acquireReadahead();
        }
        Fill fill = null;
        try {
            fill = object.cached.claim(page, end, isAhead ? Urgency.LATER : urgency);
        } finally {
            if (isAhead && fill == null) {
                fetcher.peerGate().release(Urgency.READAHEAD);
            }
        }
        if (fill != null) {
            fetches.add(fetcher.fetchForPeer(object, fill, urgency));
        } else if (isAhead && object.anyMissing(page, end)) {
            throw new BusyException("not enough memory");
        }
        return fill;
    }

    /**
     * Reads until the buffer is full, waiting for pages in flight.
     *
     * @param position in bytes; all bytes from there on are within the object, and {@link #prepare prepared}
     * @throws ObjectStoreException if the store has failed, or has another version now
     * @throws BusyException if the bytes were evicted since, or are damaged on disk
     */
    public void read(long position, ByteBuffer to) throws ObjectStoreException, BusyException, InterruptedException {
        long at = position;
        try {
            while (to.hasRemaining()) {
                int copied = object.cached.read(at, to, null, FromDisk.CHECKED);
                if (copied == CachedObject.MISSING) {
                    throwFailure(at);
                }
                at += copied;
            }
        } catch (FillFailedException e) {
            throw object.storeException(e, at);
        }
    }

    /** The fetch of a missing byte failed before it was read, or the byte was evicted or damaged. */
    private void throwFailure(long at) throws ObjectStoreException, BusyException {
        for (RangeFetch fetch : fetches) {
            Exception failure = fetch.failure(at);
            if (failure != null) {
                throw object.storeException(failure, at);
            }
        }
        throw new BusyException("evicted before it was read, or damaged on disk");
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            fetcher.closed(object);
        }
    }
}

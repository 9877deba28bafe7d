package io.penstock.prefetch;

import io.penstock.cache.Fill;
import io.penstock.cache.Urgency;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One claimed run of pages in flight from the object store to the cache.
 *
 * <p>{@link #transfer} joins the two: it asks the {@link PeerSource} first, and the store delivers the rest.
 *
 * <p>Runs on its own thread; any other thread may call {@link #cancelUnlessAwaited} and {@link #failure}.
 */
final class RangeFetch implements PeerSource.Sink {
    private static final Logger LOG = LoggerFactory.getLogger(RangeFetch.class);

    /**
     * The pages of a fill did not arrive, but no demand fetch failed: a readahead failed, or the fetch was cancelled. A
     * waiting reader requests the pages again.
     */
    static final class AbandonedException extends Exception {
        private static final long serialVersionUID = 1L;

        AbandonedException(@Nullable Exception cause) {
            super("the fetch was abandoned", cause);
        }
    }

    private final PeerSource peers;
    private final ObjectStore store;
    private final ObjectVersion version;
    private final Fill fill;
    private final ByteRange range;
    private final Urgency urgency;
    private final Deadline deadline;
    private final FetchCounters counters;

    /** Bytes of the range that have arrived. Confined to the running thread. */
    private long arrived;

    /** Written once, by the running thread. */
    private volatile @Nullable Thread runner;

    /**
     * Written before runner is read, and read after runner is written: one of the two threads sees the other's write.
     */
    private volatile boolean cancelled;

    /** Written once, by the running thread. */
    private volatile long slotNanos;

    /** Written once, by the running thread, before the fill fails. */
    private volatile @Nullable Exception failure;

    /** @param peers asked before the store */
    RangeFetch(
            PeerSource peers,
            ObjectStore store,
            ObjectVersion version,
            Fill fill,
            Urgency urgency,
            Deadline deadline,
            FetchCounters counters) {
        this.peers = peers;
        this.store = store;
        this.version = version;
        this.fill = fill;
        this.range = fill.range();
        this.urgency = urgency;
        this.deadline = deadline;
        this.counters = counters;
    }

    /** Interrupts the fetch's thread, which does nothing else, unless a reader waits for the fetch. */
    void cancelUnlessAwaited() {
        if (isAwaited()) {
            return;
        }
        cancelled = true;
        Thread thread = runner;
        if (thread != null) {
            thread.interrupt();
        }
    }

    /** The failure, if the fetch has failed and should have delivered this byte. */
    @Nullable
    Exception failure(long offset) {
        return offset >= range.offset() && offset < range.end() ? failure : null;
    }

    Urgency urgency() {
        return urgency;
    }

    /** How long the claim waited for memory, in nanoseconds. */
    long memoryNanos() {
        return fill.memoryNanos();
    }

    /** How long the fetch waited for a slot, in nanoseconds. */
    long slotNanos() {
        return slotNanos;
    }

    /** Fills the claim or fails it, within the gate's limit. Readahead already has its slot. */
    void run(FetchGate gate) {
        runner = Thread.currentThread();
        try {
            deadline.call(() -> {
                if (urgency == Urgency.DEMAND) {
                    Deadline.standInLine(() -> slotNanos = gate.acquire());
                }
                try {
                    transfer();
                } finally {
                    gate.release(urgency);
                }
                return null;
            });
        } catch (ObjectStoreException e) {
            counters.failed.increment();
            fail(urgency == Urgency.DEMAND ? e : new AbandonedException(e));
        } catch (InterruptedException e) {
            abandon();
        } catch (RuntimeException | Error e) {
            LOG.error("Fetching {} of {} failed unexpectedly", range, version.key(), e);
            counters.failed.increment();
            fail(new ObjectStoreException.Unavailable("reading " + version.key() + " failed: " + e, e));
        }
    }

    private void transfer() throws ObjectStoreException, InterruptedException {
        if (cancelled) {
            throw new InterruptedException();
        }
        FetchEvent event = new FetchEvent();
        event.begin();
        try {
            while (arrived < range.length()) {
                peers.get(version, range.skip(arrived), urgency, this);
                if (arrived < range.length()) {
                    fetch(range.skip(arrived));
                }
            }
        } finally {
            record(event);
        }
    }

    /** Fetches the beginning of this range from the store, up to where peers may have more. */
    private void fetch(ByteRange rest) throws ObjectStoreException, InterruptedException {
        long end = Math.min(rest.end(), peers.boundary(version, rest.offset()));
        long wanted = end - rest.offset();
        long before = arrived;
        counters.started(urgency);
        store.get(version, new ByteRange(rest.offset(), wanted), new FromStore());
        if (arrived - before != wanted) {
            throw new ObjectStoreException.Corrupt(
                    "the store sent " + (arrived - before) + " of the " + wanted + " bytes at " + rest.offset() + " of "
                            + version.key(),
                    null);
        }
    }

    /** Counts bytes before their readers wake. */
    private final class FromStore implements BodySink {
        @Override
        public ByteBuffer buffer() {
            return RangeFetch.this.buffer();
        }

        @Override
        public void filled(int bytes) {
            counters.bytes.add(bytes);
            RangeFetch.this.filled(bytes);
        }
    }

    private void record(FetchEvent event) {
        event.end();
        if (event.shouldCommit()) {
            event.key = version.key();
            event.offset = range.offset();
            event.bytes = arrived;
            event.cause = urgency == Urgency.DEMAND ? "demand" : "readahead";
            event.complete = arrived == range.length();
            event.commit();
        }
    }

    /** Gives up the claim. */
    void abandon() {
        counters.cancelled.increment();
        fail(new AbandonedException(null));
    }

    private void fail(Exception cause) {
        failure = cause;
        fill.fail(cause);
    }

    @Override
    public boolean isAwaited() {
        return fill.awaited();
    }

    @Override
    public ByteBuffer buffer() {
        return fill.buffer();
    }

    @Override
    public void filled(int bytes) {
        arrived += bytes;
        fill.filled(bytes);
    }
}

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
 * One claimed run of pages on its way from the object store into the cache.
 *
 * <p>{@link #bring} is the seam between the two: whoever else can bring these bytes in time may be asked there first,
 * and what it does not bring falls through to the store.
 *
 * <p>Run by one thread of its own; {@link #cancelUnlessAwaited} and {@link #failure} are for any other.
 */
final class RangeFetch implements BodySink {
    private static final Logger LOG = LoggerFactory.getLogger(RangeFetch.class);

    private final ObjectStore store;
    private final ObjectVersion version;
    private final Fill fill;
    private final ByteRange range;
    private final Urgency urgency;
    private final Deadline deadline;
    private final FetchCounters counters;

    /** Bytes of the range that have arrived. Only the running thread uses it. */
    private long arrived;

    /** Written once, by the running thread. */
    private volatile @Nullable Thread runner;

    /** Written before runner is read, read after runner is written: one of the two threads sees what the other did. */
    private volatile boolean cancelled;

    /** Written once, by the running thread, before the fill fails. */
    private volatile @Nullable Exception failure;

    RangeFetch(
            ObjectStore store,
            ObjectVersion version,
            Fill fill,
            Urgency urgency,
            Deadline deadline,
            FetchCounters counters) {
        this.store = store;
        this.version = version;
        this.fill = fill;
        this.range = fill.range();
        this.urgency = urgency;
        this.deadline = deadline;
        this.counters = counters;
    }

    /** Ends the fetch early, unless a reader waits for it: its thread, which does nothing else, is interrupted. */
    void cancelUnlessAwaited() {
        if (fill.awaited()) {
            return;
        }
        cancelled = true;
        Thread thread = runner;
        if (thread != null) {
            thread.interrupt();
        }
    }

    /** Why it has failed, if it has and was to bring this byte. */
    @Nullable
    Exception failure(long offset) {
        return offset >= range.offset() && offset < range.end() ? failure : null;
    }

    /** Fills the claim or fails it, within the gate's bound; a permit for readahead is there already. */
    void run(FetchGate<?> gate) {
        runner = Thread.currentThread();
        try {
            if (urgency == Urgency.DEMAND && gate.acquire()) {
                deadline.stoodInLine();
            }
            try {
                bring();
            } finally {
                gate.release(urgency);
            }
        } catch (ObjectStoreException e) {
            counters.failed.increment();
            fail(urgency == Urgency.DEMAND ? e : new FetchAbandonedException(e));
        } catch (InterruptedException e) {
            abandon();
        } catch (RuntimeException | Error e) {
            LOG.error("Fetching {} of {} failed in an unforeseen way", range, version.key(), e);
            counters.failed.increment();
            fail(new ObjectStoreException.Unavailable("reading " + version.key() + " failed: " + e, e));
        }
    }

    private void bring() throws ObjectStoreException, InterruptedException {
        if (cancelled) {
            throw new InterruptedException();
        }
        counters.started(urgency);
        try {
            deadline.call(() -> {
                store.get(version, range, this);
                return null;
            });
        } finally {
            counters.bytes.add(arrived);
        }
        if (arrived != range.length()) {
            throw new ObjectStoreException.Corrupt(
                    "the store sent " + arrived + " of the " + range.length() + " bytes at " + range.offset() + " of "
                            + version.key(),
                    null);
        }
    }

    /** Gives up the claim. */
    void abandon() {
        counters.cancelled.increment();
        fail(new FetchAbandonedException(null));
    }

    private void fail(Exception cause) {
        failure = cause;
        fill.fail(cause);
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

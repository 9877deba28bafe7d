package io.penstock.prefetch;

import static io.penstock.cache.PageCache.PAGE_SIZE;

import io.penstock.cache.CachedObject;
import io.penstock.cache.CachedObject.FromDisk;
import io.penstock.cache.Fill;
import io.penstock.cache.FillFailedException;
import io.penstock.cache.PageState;
import io.penstock.cache.Urgency;
import io.penstock.cache.disk.ReadShape;
import io.penstock.cache.disk.WholeFile;
import io.penstock.core.LentBytes;
import io.penstock.core.NoWait;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStoreException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Positional reads of one object version through the page cache, with readahead. Safe for use by any number of threads.
 */
public final class ObjectReader implements AutoCloseable {
    /**
     * How often a read requests bytes again after a fetch ended without a failed demand. Once is enough, unless
     * readahead claims the page again at that very moment and fails again.
     */
    private static final int RETRIES = 2;

    private final PageFetcher fetcher;
    private final OpenVersion object;
    private final CachedObject cached;
    private final Supplier<ReadaheadConfig> limits;
    private final long size;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean completes;

    ObjectReader(PageFetcher fetcher, OpenVersion object, Supplier<ReadaheadConfig> limits) {
        this.fetcher = fetcher;
        this.object = object;
        this.cached = object.cached;
        this.limits = limits;
        this.size = cached.version().size();
    }

    /**
     * Reads until the buffer is full or the object ends. If it throws, the buffer's position and content are undefined.
     *
     * @param position in bytes from the start of the object; 0 or more
     * @param loans if not null, large pieces are lent instead of copied into the buffer
     * @param mayWait if not, reads from memory only
     * @return bytes read: fewer than requested only at the end of the object; 0 at or after it; or
     *     {@link NoWait#WOULD_WAIT}, with the buffer unchanged
     * @throws ObjectStoreException.PreconditionFailed if a page had to be fetched and the object has changed
     * @throws IllegalStateException if the reader is closed
     */
    public int read(long position, ByteBuffer to, @Nullable LentBytes loans, boolean mayWait)
            throws ObjectStoreException, InterruptedException {
        long end = end(position, to);
        if (end <= position) {
            return 0;
        }
        return mayWait ? read(position, end, to, loans) : readFromMemory(position, end, to, loans);
    }

    private int read(long position, long end, ByteBuffer to, @Nullable LentBytes loans)
            throws ObjectStoreException, InterruptedException {
        ReadSource source = source(position, end);
        Demand demand = new Demand();
        SlowReadEvent event = new SlowReadEvent();
        event.begin();
        long begun = System.nanoTime();
        try {
            return read(position, end, to, loans, source == ReadSource.STORE, demand);
        } finally {
            long memoryNanos = demand.memoryNanos();
            long slotNanos = demand.slotNanos();
            if (memoryNanos + slotNanos > 0) {
                fetcher.readerWaited(memoryNanos, slotNanos);
            }
            object.history.answered(source, System.nanoTime() - begun, memoryNanos + slotNanos);
            event.end();
            if (event.shouldCommit()) {
                event.key = cached.version().key();
                event.offset = position;
                event.bytes = end - position;
                event.cause = SlowReadEvent.cause(source);
                event.commit();
            }
        }
    }

    /** What a read of these bytes will wait for first. */
    private ReadSource source(long position, long end) {
        if (object.isMissing(position, end)) {
            return ReadSource.STORE;
        }
        CachedObject holder = object.holder(position);
        long page = position / holder.pageSize();
        if (holder.state(page) == PageState.INFLIGHT) {
            return ReadSource.IN_FLIGHT;
        }
        return holder.isInMemory(page) ? ReadSource.MEMORY : ReadSource.NVME;
    }

    /** A read's fetches from the store. Confined to its thread. */
    private static final class Demand {
        private List<RangeFetch> fetches = List.of();

        /** The exception of the fetch that should have delivered this byte; null if there is none. */
        @Nullable
        Exception failureAt(long offset) {
            for (RangeFetch fetch : fetches) {
                Exception failure = fetch.failure(offset);
                if (failure != null) {
                    return failure;
                }
            }
            return null;
        }

        /** How long it waited for memory, summed over its claims, which wait one after the other. */
        long memoryNanos() {
            long nanos = 0;
            for (RangeFetch fetch : fetches) {
                nanos += fetch.memoryNanos();
            }
            return nanos;
        }

        /** How long it waited for GET slots: the maximum, because its GETs wait concurrently. */
        long slotNanos() {
            long nanos = 0;
            for (RangeFetch fetch : fetches) {
                nanos = Math.max(nanos, fetch.slotNanos());
            }
            return nanos;
        }
    }

    /**
     * @param end after the last byte, which is in the object
     * @param isMissing whether some of the bytes are neither cached nor in flight
     */
    private int read(
            long position, long end, ByteBuffer to, @Nullable LentBytes loans, boolean isMissing, Demand demand)
            throws ObjectStoreException, InterruptedException {
        Stream movedOn = object.streams.observe(position, end);
        Deadline deadline = null;
        try {
            if (isMissing) {
                deadline = fetcher.deadline();
                demand.fetches = fetchMissing(position, end, deadline);
            }
        } finally { // after the demand, so that the demand's range may extend further
            if (movedOn != null) {
                fetcher.readAhead(object, movedOn);
            }
        }
        FromDisk how = object.streams.isSequential(position) ? FromDisk.SEQUENTIAL : FromDisk.REQUESTED;
        long at = position;
        int retries = RETRIES;
        while (at < end) {
            Exception failure;
            try {
                int copied = object.holder(at).read(at, to, loans, how);
                if (copied != CachedObject.MISSING) {
                    at += copied;
                    continue;
                }
                failure = demand.failureAt(at);
            } catch (FillFailedException e) {
                failure = e.getCause() instanceof Exception cause ? cause : e;
            }
            if (failure != null && (!(failure instanceof RangeFetch.AbandonedException) || retries-- == 0)) {
                throw object.storeException(failure, at);
            }
            if (loans != null) {
                loans.settle(to); // before the wait for memory
            }
            deadline = deadline == null ? fetcher.deadline() : deadline;
            demand.fetches = fetchMissing(at, end, deadline);
        }
        return (int) (end - position);
    }

    private int readFromMemory(long position, long end, ByteBuffer to, @Nullable LentBytes loans)
            throws InterruptedException {
        int start = to.position();
        for (long at = position; at < end; ) {
            int copied = readFromMemory(at, to, loans);
            if (copied < 0) {
                to.position(start);
                if (loans != null) {
                    loans.giveBack();
                }
                return NoWait.WOULD_WAIT;
            }
            at += copied;
        }
        object.history.answered();
        Stream movedOn = object.streams.observe(position, end);
        if (movedOn != null) {
            fetcher.readAhead(object, movedOn);
        }
        return (int) (end - position);
    }

    /** From the page or sector that holds the byte: negative if neither is in memory. */
    private int readFromMemory(long position, ByteBuffer to, @Nullable LentBytes loans) throws InterruptedException {
        CachedObject sectors = object.sectors;
        try {
            int count = cached.read(position, to, loans, FromDisk.NEVER);
            return count < 0 && sectors != null ? sectors.read(position, to, loans, FromDisk.NEVER) : count;
        } catch (FillFailedException e) {
            throw new IllegalStateException("it does not wait for fills", e);
        }
    }

    private long end(long position, ByteBuffer to) {
        if (closed.get()) {
            throw new IllegalStateException("the reader of " + cached.version().key() + " is closed");
        }
        if (position < 0) {
            throw new IllegalArgumentException("position " + position + " is negative");
        }
        return Math.min(position > size ? position : position + to.remaining(), size);
    }

    /**
     * Claims the Missing pages of {@code [from, to)} and starts their GETs. The last GET may extend further: to the end
     * of a small object, or as far as the stream wants to read ahead.
     */
    private List<RangeFetch> fetchMissing(long from, long to, Deadline deadline) throws InterruptedException {
        CachedObject sectors = object.sectors;
        if (sectors != null && object.streams.isRandom(from)) {
            return new RandomRead(fetcher, object, sectors, deadline).fetchMissing(from, to);
        }
        boolean small = size <= limits.get().smallFileBytes();
        long page = small ? 0 : from / PAGE_SIZE;
        long wanted = OpenVersion.pages(small ? size : object.streams.issueOnDemand(from, to));
        long needed = OpenVersion.pages(to);
        long most = limits.get().rangeSizeBytes() / PAGE_SIZE;
        List<RangeFetch> started = new ArrayList<>();
        while (page < needed) {
            long boundary = (page / most + 1) * most;
            Fill fill = cached.claim(page, Math.min(boundary, wanted), Urgency.DEMAND);
            if (fill != null) {
                started.add(fetcher.fetch(object, fill, deadline));
            }
            page = fill == null ? boundary : OpenVersion.pages(fill.range().end());
        }
        return started;
    }

    /** Whether the cache's disk has the whole object: {@link CachedObject#isWhole}. */
    public boolean isWhole() {
        return cached.isWhole();
    }

    /** Fetches the rest of the object after the close if little of it is missing then: {@link Completion}. */
    public void completeAtClose() {
        completes = true;
    }

    /** The object as one file of the cache: {@link CachedObject#wholeFile}. */
    public @Nullable WholeFile wholeFile(boolean verified) {
        return cached.wholeFile(verified);
    }

    /**
     * Whether most bytes after a read will be needed too. They will if the version, or others of its kind, was mostly
     * read in long runs when a reader of it last closed, or if it is small and so is fetched whole.
     */
    public boolean isStreamed() {
        return object.sectors == null || object.expectedShape(fetcher.siblings()) == ReadShape.IN_RUNS;
    }

    /** The last close of a version cancels the readahead that no reader awaits. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            object.noteShape(fetcher.siblings());
            if (completes) {
                fetcher.closedToComplete(object);
            } else {
                fetcher.closed(object);
            }
        }
    }
}

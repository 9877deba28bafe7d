package io.penstock.listing;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.SharedRequests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lists all keys below a prefix once, with several concurrent requests, in ranges of keys that it finds while listing.
 *
 * <p>It begins with one range, whose pages come one after another. When more requests may run than there are ranges, it
 * requests a page in the middle of the rest of some range ({@link KeySpace}): a probe. If the probe finds keys, the
 * range ends where the probe began, and the page is the first one of a new range, so no request was wasted. If it finds
 * none, the range also ends there, because no keys follow. If the range itself has already reached that key, the page
 * is dropped.
 *
 * <p>A listing of one page takes one request. One of n pages takes at most {@code n + n/8 + 3 * concurrency + 8}
 * requests, throttled ones excluded. Wasted requests are counted, and when the count reaches the bound, ranges continue
 * but are not probed. So keys of a form that cannot be guessed are listed page by page.
 *
 * <p>A store without order, or without start-after, is listed as one range, which restarts if other ranges exist by
 * then. Throttling halves the number of requests, indefinitely if necessary, unless a caller waits. Any other failure
 * ends the listing.
 *
 * <p>Safe for use by any number of threads. The monitor, which also guards the ranges, is never held across a call to
 * the store or to the collector.
 */
public final class RangeLister<R> {
    /** The initial number of concurrent requests where many keys are expected. */
    private static final int EXPECTING_MUCH = 8;

    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

    private static final ListPage NOTHING = new ListPage(List.of(), List.of(), null);

    /** Receives the listed pages. */
    public interface Collector<R> {
        /** Creates a container for the objects of one range. Not every container is used. */
        R begin();

        /**
         * Adds a page. One range's pages come in order, from one thread at a time. The last one may have no keys: it
         * shows that nothing follows, and may have been requested before the others.
         *
         * @param askedAt when the store was asked, on the lister's clock: nanoseconds
         */
        void page(R range, ListPage page, long askedAt) throws ObjectStoreException, InterruptedException;

        /** The present demand. Called under the lister's monitor. */
        default Demand demand() {
            return Demand.ALL;
        }
    }

    /** Which pages to request. */
    public enum Demand {
        /** All, in any order. */
        ALL,
        /** All, the first in order before the rest. */
        NEAREST,
        /** Only the first in order. */
        NEXT,
        NOTHING
    }

    private final ObjectStore store;
    private final String prefix;
    private final String delimiter;
    private final Executor executor;
    private final LongSupplier nanoClock;
    private final Collector<R> collector;
    private final Deadline deadline;

    @GuardedBy("this")
    private final RequestLimit limit;

    @GuardedBy("this")
    private final KeyRanges<R> ranges;

    /** Threads that request or collect. */
    @GuardedBy("this")
    private final Set<Thread> threads = new HashSet<>();

    /** Requests handed to the executor that have not ended. */
    @GuardedBy("this")
    private int asked;

    @GuardedBy("this")
    private long requests;

    @GuardedBy("this")
    private long listed;

    @GuardedBy("this")
    private int throttledInRow;

    /** Whether throttling never ends the listing: true unless a caller waits. Set before the listing begins. */
    private boolean isPatient = true;

    /** Changes when the listing restarts: responses to earlier requests are useless. */
    @GuardedBy("this")
    private int generation;

    @GuardedBy("this")
    private @Nullable Throwable failure;

    /**
     * @param prefix the beginning of all keys
     * @param delimiter rolls keys up into common prefixes; empty for a flat listing
     * @param concurrency maximum number of concurrent requests: 1 or more
     * @param executor runs requests, each of which waits for its response
     */
    public RangeLister(
            ObjectStore store,
            String prefix,
            String delimiter,
            int concurrency,
            Executor executor,
            LongSupplier nanoClock,
            Collector<R> collector) {
        this.store = store;
        this.prefix = prefix;
        this.delimiter = delimiter;
        this.executor = executor;
        this.nanoClock = nanoClock;
        this.collector = collector;
        this.deadline = store.retries().forReading();
        this.limit = new RequestLimit(concurrency);
        this.ranges = new KeyRanges<>(prefix, concurrency);
    }

    /** One request: a range's next page, or a probe if {@code range} is null. */
    private record Ask<R>(@Nullable KeyRange<R> range, ListRequest request, long number, int generation) {
        String probe() {
            return Objects.requireNonNull(request.startAfter());
        }
    }

    /**
     * Restricts the listing to keys after this page, which has keys, for a waiting caller. Must be called before any
     * other method. Many keys are expected there.
     */
    public synchronized void beginBehind(ListPage page) {
        ranges.beginBehind(page);
        limit.beginWith(EXPECTING_MUCH);
        isPatient = false;
    }

    /**
     * Lists all keys; to be called once.
     *
     * @return the ranges in the order of their keys: together they have every key once
     * @throws ObjectStoreException the first failure
     */
    public List<R> list() throws ObjectStoreException, InterruptedException {
        start();
        synchronized (this) {
            while (!isOver()) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    fail(e); // and continues waiting: the requesting threads are interrupted, too
                }
            }
            throwFailure();
            return ranges.collected();
        }
    }

    /** Begins to list, for a caller that does not call {@link #list}. */
    public void start() {
        synchronized (this) {
            ranges.begin();
        }
        go();
    }

    /**
     * Waits until all keys up to one have been collected, or all keys, or the store turns out to list without order.
     *
     * @param key called again, under the monitor, when a page has been collected; returns null for no particular key
     * @throws ObjectStoreException the first failure, unless all of these keys had been collected before it
     */
    public synchronized void awaitSettled(Supplier<@Nullable String> key)
            throws ObjectStoreException, InterruptedException {
        while (true) {
            String upTo = key.get();
            if (ranges.isSequential() || ranges.isSettled() || (upTo != null && ranges.isSettledUpTo(upTo))) {
                return;
            }
            throwFailure();
            wait();
        }
    }

    /** Whether the store lists without order, or cannot list after a given key. */
    public synchronized boolean isSequential() {
        return ranges.isSequential();
    }

    /** Whether it ended before it was complete. */
    public synchronized boolean hasFailed() {
        return failure != null;
    }

    /** Whether all keys up to this one have been collected. */
    public synchronized boolean isSettledUpTo(String key) {
        return ranges.isSettledUpTo(key);
    }

    /** Stops the listing; a waiting caller gets a CancellationException. */
    public void stop() {
        fail(new CancellationException("the listing was stopped"));
    }

    @GuardedBy("this")
    private void throwFailure() throws ObjectStoreException, InterruptedException {
        if (failure != null) {
            throw SharedRequests.rethrow(failure);
        }
    }

    /** The number of keys and common prefixes so far. */
    synchronized long listed() {
        return listed;
    }

    /** The estimated share of the key space that has been listed: 0 to 1. */
    synchronized double share() {
        return ranges.share();
    }

    /** The number of requests so far. */
    synchronized long requests() {
        return requests;
    }

    @GuardedBy("this")
    private boolean isOver() {
        return failure == null ? asked == 0 && !ranges.isAnyWaiting() : threads.isEmpty();
    }

    /** Starts as many requests as are allowed and wanted. Must also be called when the demand grows. */
    public void go() {
        List<Ask<R>> asks = new ArrayList<>();
        synchronized (this) {
            if (asked == 0) {
                deadline.restart(); // the store was silent because nothing was requested
            }
            while (failure == null && asked < limit.now()) {
                Ask<R> ask = next();
                if (ask == null) {
                    break;
                }
                asked++;
                asks.add(ask);
            }
            if (isOver()) {
                notifyAll();
            }
        }
        for (Ask<R> ask : asks) {
            try {
                executor.execute(() -> run(ask));
            } catch (RejectedExecutionException e) {
                fail(e);
            }
        }
    }

    /** The next request; null if none is worth it now. */
    @GuardedBy("this")
    private @Nullable Ask<R> next() {
        Demand demand = collector.demand();
        KeyRange<R> range = ranges.poll(demand);
        if (range != null) {
            return new Ask<>(range, range.next(prefix, delimiter), requests++, generation);
        }
        String key = ranges.probe(demand);
        if (key == null) {
            return null;
        }
        ListRequest request = new ListRequest(prefix, delimiter, key, null, ListRequest.MAX_KEYS);
        return new Ask<>(null, request, requests++, generation);
    }

    private void run(Ask<R> ask) {
        synchronized (this) {
            if (failure != null) {
                return;
            }
            threads.add(Thread.currentThread());
        }
        try {
            ask(ask);
        } catch (Throwable e) { // list() throws it
            fail(e);
        } finally {
            synchronized (this) {
                threads.remove(Thread.currentThread());
                if (failure != null) {
                    Thread.interrupted(); // the interrupt was for this request: the thread may do other work
                }
                asked--;
                notifyAll();
            }
        }
        go();
    }

    private void ask(Ask<R> ask) throws ObjectStoreException, InterruptedException {
        long askedAt = nanoClock.getAsLong();
        ListPage page;
        try {
            page = deadline.call(() -> store.list(ask.request));
        } catch (ObjectStoreException.Throttled e) {
            throttled(ask, e);
            return;
        } catch (ObjectStoreException.Refused e) {
            if (ask.range != null) {
                throw e;
            }
            refused(ask);
            return;
        }
        deadline.restart();
        answered(ask, ListedPage.of(page), askedAt);
    }

    private void answered(Ask<R> ask, ListedPage page, long askedAt) throws ObjectStoreException, InterruptedException {
        KeyRange<R> range;
        ListedPage kept;
        synchronized (this) {
            throttledInRow = 0;
            if (ask.generation != generation) {
                return;
            }
            if (!ranges.isSequential() && !page.follows(ask.range == null ? ask.probe() : ask.range.position)) {
                fallBack();
            }
            range = ask.range == null ? ranges.split(ask.probe(), page, askedAt) : ask.range;
            if (range == null || ask.generation != generation) {
                return;
            }
            range.progress.came(page.page());
            kept = ranges.advance(range, page);
            listed += kept.size();
            if (kept.size() > 0 && !ranges.isSequential()) {
                limit.answered();
            }
        }
        R collected = range.collected;
        if (collected == null) {
            collected = collector.begin();
            range.collected = collected;
        }
        collector.page(collected, kept.page(), askedAt);
        Long emptySince;
        synchronized (this) {
            emptySince = range.done ? range.emptySince : null;
        }
        if (emptySince != null) {
            collector.page(collected, NOTHING, emptySince);
        }
        synchronized (this) {
            if (ask.generation == generation) {
                ranges.settle(range);
            }
        }
    }

    /** Continues without order. */
    @GuardedBy("this")
    private void fallBack() {
        limit.single();
        if (ranges.fallBack()) {
            generation++;
            listed = 0;
        }
    }

    /** The store has no start-after, or refuses this one. */
    private synchronized void refused(Ask<R> ask) {
        if (ask.generation == generation) {
            if (ranges.refused(ask.probe())) {
                fallBack();
            }
        }
    }

    private void throttled(Ask<R> ask, ObjectStoreException.Throttled e)
            throws ObjectStoreException.Throttled, InterruptedException {
        Duration pause;
        synchronized (this) {
            if (!isPatient && deadline.isOver()) {
                throw e;
            }
            limit.throttled(ask.number, requests - 1);
            pause = FIRST_PAUSE.multipliedBy(1L << Math.min(throttledInRow++, 20));
        }
        long most = Math.min(pause.toNanos(), LONGEST_PAUSE.toNanos());
        // Clients that were throttled together must not retry together.
        Thread.sleep(Duration.ofNanos(ThreadLocalRandom.current().nextLong(1 + most)));
        if (isPatient) {
            deadline.restart();
        }
        synchronized (this) {
            if (ask.generation != generation) {
                return;
            }
            if (ask.range == null) {
                ranges.unanswered(ask.probe());
            } else {
                ranges.await(ask.range);
            }
        }
    }

    private synchronized void fail(Throwable e) {
        if (failure == null) {
            failure = e;
            threads.forEach(Thread::interrupt);
        }
        notifyAll();
    }
}

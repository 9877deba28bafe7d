package io.penstock.metadata;

import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
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
 * Lists all that is below a prefix, once, by several requests at once: in ranges of keys that are found while listing.
 *
 * <p>It begins as one range, whose pages come one after another. When a request more may be under way than there are
 * ranges, it asks for a page in the middle of what is left of some range ({@link KeySpace}): a probe. If that has keys, the
 * range ends where the probe began, and the page is the first one of a range of its own; so nothing was asked for in vain.
 * If it has none, the range ends there too: what came after is known to be empty. If the range has come there itself
 * meanwhile, the page is dropped.
 *
 * <p>A listing of one page takes one request. One of n pages takes at most {@code n + n/8 + 3 * concurrency + 8}, beside
 * those that are throttled: what was asked for in vain is counted, and when it is as much, ranges go on but are not
 * probed. So keys of which nothing can be guessed are listed one page after another.
 *
 * <p>A store without order, or without start-after, is listed by one range: begun anew if other ranges were there before
 * it showed. Throttling halves the number of requests, for ever if need be, unless somebody waits; any other failure ends the listing.
 *
 * <p>Safe for use by any number of threads. The monitor, which guards the ranges too, is never held across a call to the
 * store or to what is collected.
 */
final class RangeLister<R> {
    /** Requests at once, to begin with, where there is much to list. */
    private static final int EXPECTING_MUCH = 8;

    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

    private static final ListPage NOTHING = new ListPage(List.of(), List.of(), null);

    /** Takes what is listed. */
    interface Collector<R> {
        /** Something for a range of keys to be collected in. What was begun is not always used. */
        R begin();

        /**
         * Adds a page. One range's pages come in order, by one thread at a time. The last may be one without keys, of what
         * is known to be empty behind the others; it may have been asked for before them.
         *
         * @param askedAt when the store was asked, on the lister's clock: nanoseconds
         */
        void page(R range, ListPage page, long askedAt) throws ObjectStoreException, InterruptedException;

        /** What is wanted now. Asked under the lister's monitor. */
        default Demand demand() {
            return Demand.ALL;
        }
    }

    /** What is to be asked for. */
    enum Demand {
        /** All, in any order. */
        ALL,
        /** All, what comes first in order before the rest. */
        NEAREST,
        /** What comes first in order, and no more. */
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

    /** Guarded by the monitor, as all that follows. */
    private final RequestLimit limit;

    private final KeyRanges<R> ranges;

    /** Threads that ask, or collect. */
    private final Set<Thread> threads = new HashSet<>();

    /** Requests that were given to the executor and have not ended. */
    private int asked;

    private long requests;
    private long listed;

    private int throttledInRow;

    /** Whether it goes on for as long as the store asks for fewer requests, and no more. */
    private boolean isPatient = true;

    /** Changes when the listing begins anew: answers to earlier requests are of no use. */
    private int generation;

    private @Nullable Throwable failure;

    /**
     * @param prefix what all keys begin with
     * @param delimiter rolls keys up, which then are listed as common prefixes; empty for a flat listing
     * @param concurrency the most requests that are under way at once: 1 or more
     * @param executor runs requests, each of which waits for its answer
     */
    RangeLister(
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
     * Lists what is behind this page only, which has keys, for who waits for it; to be called before all else. Much is
     * expected to be there.
     */
    void beginBehind(ListPage page) {
        ranges.beginBehind(page);
        limit.beginWith(EXPECTING_MUCH);
        isPatient = false;
    }

    /**
     * Lists all; to be called once.
     *
     * @return the ranges in the order of their keys: together they have every key once
     * @throws ObjectStoreException the first failure
     */
    List<R> list() throws ObjectStoreException, InterruptedException {
        start();
        synchronized (this) {
            while (!isOver()) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    fail(e); // and wait on: those that ask are interrupted, too
                }
            }
            throwFailure();
            return ranges.collected();
        }
    }

    /** Begins to list; for who does not {@link #list}. */
    void start() {
        synchronized (this) {
            ranges.begin();
        }
        go();
    }

    /**
     * Waits until all keys up to one have been collected, or all keys, or the store turns out to list without order.
     *
     * @param key asked for anew, under the monitor, whenever a page has been collected; null for none in particular
     * @throws ObjectStoreException the first failure, unless all of these keys had been collected before it
     */
    synchronized void awaitSettled(Supplier<@Nullable String> key) throws ObjectStoreException, InterruptedException {
        while (true) {
            String upTo = key.get();
            if (ranges.isSequential() || ranges.isSettled() || (upTo != null && ranges.isSettledUpTo(upTo))) {
                return;
            }
            throwFailure();
            wait();
        }
    }

    /** Whether the store lists without order, or not from a key on. */
    synchronized boolean isSequential() {
        return ranges.isSequential();
    }

    /** Whether it has ended before all came. */
    synchronized boolean hasFailed() {
        return failure != null;
    }

    /** Whether all keys up to this one have been collected. */
    synchronized boolean isSettledUpTo(String key) {
        return ranges.isSettledUpTo(key);
    }

    /** Ends what is under way; whoever waits for it is told so by a CancellationException. */
    void stop() {
        fail(new CancellationException("the listing was stopped"));
    }

    /** Guarded. */
    private void throwFailure() throws ObjectStoreException, InterruptedException {
        if (failure != null) {
            throw Calls.rethrow(failure);
        }
    }

    /** How many keys and common prefixes have come so far. */
    synchronized long listed() {
        return listed;
    }

    /** How much of the keys that can be has come so far, by what is known of them: 0 to 1. */
    synchronized double share() {
        return ranges.share();
    }

    /** How many requests were made so far. */
    synchronized long requests() {
        return requests;
    }

    /** Guarded. */
    private boolean isOver() {
        return failure == null ? asked == 0 && !ranges.isAnyWaiting() : threads.isEmpty();
    }

    /** Makes as many requests as may be under way, and are wanted: to be called too when more is. */
    void go() {
        List<Ask<R>> asks = new ArrayList<>();
        synchronized (this) {
            if (asked == 0) {
                deadline.restart(); // nobody was heard, as nobody was asked
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

    /** Guarded. What to ask for next; null if nothing is worth it now. */
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
                    Thread.interrupted(); // it was for this request: the thread may go on to other work
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

    /** Guarded. Goes on without order. */
    private void fallBack() {
        limit.single();
        if (ranges.fallBack()) {
            generation++;
            listed = 0;
        }
    }

    /** The store has no start-after, or does not like this one. */
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
        // Clients that were throttled together are not to come back together.
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

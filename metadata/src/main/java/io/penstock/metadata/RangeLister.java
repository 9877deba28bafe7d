package io.penstock.metadata;

import io.penstock.metadata.KeySpace.Split;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.KeyOrder;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
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
 * it showed. Throttling halves the number of requests, for ever if need be; any other failure ends the listing.
 *
 * <p>Safe for use by any number of threads. The monitor, which guards the ranges too, is never held across a call to the
 * store or to what is collected.
 */
final class RangeLister<R> {
    /** So many keys of a page tell how keys are made up. */
    private static final int SAMPLE = 32;

    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

    /** Takes what is listed. */
    interface Collector<R> {
        /** Something for a range of keys to be collected in. What was begun is not always used. */
        R begin();

        /**
         * Adds a page. One range's pages come in order, by one thread at a time.
         *
         * @param askedAt when the store was asked, on the lister's clock: nanoseconds
         */
        void page(R range, ListPage page, long askedAt) throws ObjectStoreException, InterruptedException;
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

    private final KeySpace space;

    /** All, by the key that each begins after. */
    private final NavigableMap<String, KeyRange<R>> ranges = new TreeMap<>(KeyOrder.COMPARATOR);

    /** Those that are not done. */
    private final Set<KeyRange<R>> active = new LinkedHashSet<>();

    /** Those whose next page is to be asked for. */
    private final Deque<KeyRange<R>> waiting = new ArrayDeque<>();

    /** Threads that ask, or collect. */
    private final Set<Thread> threads = new HashSet<>();

    private final ProbeBudget budget;

    /** Requests that were given to the executor and have not ended. */
    private int asked;

    private long requests;
    private long listed;

    private int throttledInRow;

    /** Whether the store's order cannot be used. */
    private boolean sequential;

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
        this.space = new KeySpace(prefix.length());
        this.budget = new ProbeBudget(concurrency);
    }

    /** One request: a range's next page, or a probe if {@code range} is null. */
    private record Ask<R>(@Nullable KeyRange<R> range, ListRequest request, long number, int generation) {
        String probe() {
            return Objects.requireNonNull(request.startAfter());
        }
    }

    /**
     * Lists all; to be called once.
     *
     * @return the ranges in the order of their keys: together they have every key once
     * @throws ObjectStoreException the first failure
     */
    List<R> list() throws ObjectStoreException, InterruptedException {
        synchronized (this) {
            begin();
        }
        go();
        synchronized (this) {
            while (!isOver()) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    fail(e); // and wait on: those that ask are interrupted, too
                }
            }
            if (failure != null) {
                throw Calls.rethrow(failure);
            }
            List<R> all = new ArrayList<>();
            for (KeyRange<R> range : ranges.values()) {
                if (range.collected != null) {
                    all.add(range.collected);
                }
            }
            return all;
        }
    }

    /** How many keys and common prefixes have come so far. */
    synchronized long listed() {
        return listed;
    }

    /** How many requests were made so far. */
    synchronized long requests() {
        return requests;
    }

    /** Guarded. */
    private void begin() {
        KeyRange<R> all = new KeyRange<>("", null, false);
        ranges.put(all.after, all);
        active.add(all);
        waiting.add(all);
    }

    /** Guarded. */
    private boolean isOver() {
        return failure == null ? asked == 0 && waiting.isEmpty() : threads.isEmpty();
    }

    /** Makes as many requests as may be under way. */
    private void go() {
        List<Ask<R>> asks = new ArrayList<>();
        synchronized (this) {
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
        KeyRange<R> range = waiting.poll();
        if (range != null) {
            return new Ask<>(range, range.next(prefix, delimiter), requests++, generation);
        }
        if (sequential || !budget.allows(active.size())) {
            return null;
        }
        String key = probe();
        if (key == null) {
            return null;
        }
        budget.begins();
        ListRequest request = new ListRequest(prefix, delimiter, key, null, ListRequest.MAX_KEYS);
        return new Ask<>(null, request, requests++, generation);
    }

    /** Guarded. Where to split the range that has most left; null if none is worth it. */
    private @Nullable String probe() {
        KeyRange<R> best = null;
        Split split = null;
        for (KeyRange<R> range : active) {
            Split candidate = range.mayBeProbed() ? range.split(space) : null;
            if (candidate != null && (split == null || candidate.worth() > split.worth())) {
                best = range;
                split = candidate;
            }
        }
        if (best == null || split == null) {
            return null;
        }
        best.probed.add(split.key());
        best.changed();
        return split.key();
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
            throttled(ask);
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
            if (!sequential && !page.follows(ask.range == null ? ask.probe() : ask.range.position)) {
                fallBack();
            }
            range = ask.range == null ? split(ask.probe(), page) : ask.range;
            if (range == null || ask.generation != generation) {
                return;
            }
            kept = advance(range, page);
        }
        R collected = range.collected;
        if (collected == null) {
            collected = collector.begin();
            range.collected = collected;
        }
        collector.page(collected, kept.page(), askedAt);
        synchronized (this) {
            if (ask.generation == generation && !range.done) {
                waiting.add(range);
            }
        }
    }

    /** Guarded. What a probe has found; the range that its page belongs to, or null if it is of no use. */
    private @Nullable KeyRange<R> split(String key, ListedPage page) {
        KeyRange<R> victim = probed(key);
        budget.answered();
        if (sequential || victim == null || !victim.isToCome(key) || key.equals(victim.end)) {
            miss(victim);
            return null;
        }
        boolean hasKeys = page.within(key, victim.end).size() > 0;
        if (!hasKeys && !page.goesOn(victim.end)) {
            victim.endAt(key, false);
            victim.trust = 0;
            miss(victim);
            return null;
        }
        KeyRange<R> range = new KeyRange<>(key, victim.end, victim.full);
        victim.trust = victim.full && hasKeys ? victim.trust + 1 : 0;
        range.trust = victim.trust;
        range.probed.addAll(victim.probed.tailSet(key, false));
        victim.probed.tailSet(key, false).clear();
        victim.endAt(key, hasKeys);
        victim.misses = 0;
        ranges.put(key, range);
        active.add(range);
        return range;
    }

    /** Guarded. The range that this key is in or was in, which is not probed there any more. */
    private @Nullable KeyRange<R> probed(String key) {
        budget.ends();
        Map.Entry<String, KeyRange<R>> entry = ranges.lowerEntry(key);
        if (entry == null) {
            return null;
        }
        entry.getValue().probed.remove(key);
        entry.getValue().changed();
        return entry.getValue();
    }

    /** Guarded. */
    private void miss(@Nullable KeyRange<R> range) {
        budget.missed();
        if (range != null) {
            range.misses++;
        }
    }

    /** Guarded. Takes note of a page; what of it is the range's. */
    private ListedPage advance(KeyRange<R> range, ListedPage page) {
        ListedPage kept = sequential ? page : page.within(range.position, range.end);
        int size = kept.size();
        range.token = page.page().nextToken();
        range.done = !page.goesOn(range.end);
        if (range.done) {
            active.remove(range);
        }
        budget.came(size, page.size());
        if (size > 0) {
            listed += size;
            range.misses = 0;
            range.advance(Objects.requireNonNull(kept.first()), Objects.requireNonNull(kept.last()));
            if (!sequential) {
                learn(kept.page());
                limit.answered();
            }
        }
        return kept;
    }

    /** Guarded. */
    private void learn(ListPage page) {
        int objects = page.objects().size();
        for (int i = 0; i < objects; i += Math.clamp(objects - 1 - i, 1, objects / SAMPLE + 1)) {
            space.learn(page.objects().get(i).version().key());
        }
        int prefixes = page.commonPrefixes().size();
        for (int i = 0; i < prefixes; i += Math.clamp(prefixes - 1 - i, 1, prefixes / SAMPLE + 1)) {
            space.learn(page.commonPrefixes().get(i));
        }
    }

    /** Guarded. Goes on without order: from the beginning, unless all that is there came in one sequence. */
    private void fallBack() {
        sequential = true;
        limit.single();
        KeyRange<R> first = ranges.firstEntry().getValue();
        if (ranges.size() > 1 || first.end != null) {
            generation++;
            ranges.clear();
            active.clear();
            waiting.clear();
            listed = 0;
            budget.beginAnew();
            begin();
        }
    }

    /** The store has no start-after, or does not like this one. */
    private synchronized void refused(Ask<R> ask) {
        if (ask.generation == generation) {
            miss(probed(ask.probe()));
            if (budget.refused()) {
                fallBack();
            }
        }
    }

    private void throttled(Ask<R> ask) throws InterruptedException {
        Duration pause;
        synchronized (this) {
            limit.throttled(ask.number, requests - 1);
            pause = FIRST_PAUSE.multipliedBy(1L << Math.min(throttledInRow++, 20));
        }
        long most = Math.min(pause.toNanos(), LONGEST_PAUSE.toNanos());
        // Clients that were throttled together are not to come back together.
        Thread.sleep(Duration.ofNanos(ThreadLocalRandom.current().nextLong(1 + most)));
        deadline.restart();
        synchronized (this) {
            if (ask.generation != generation) {
                return;
            }
            if (ask.range == null) {
                probed(ask.probe());
            } else {
                waiting.addFirst(ask.range);
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

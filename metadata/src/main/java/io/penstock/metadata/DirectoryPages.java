package io.penstock.metadata;

import io.penstock.metadata.Listing.DatedPage;
import io.penstock.metadata.RangeLister.Demand;
import io.penstock.objectstore.KeyOrder;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The pages of one directory, in order: the first few by one request after another, those of a large directory by several
 * at once ({@link RangeLister}), which are held until their turn comes.
 *
 * <p>For one caller at a time; {@link #heldSince} for any.
 */
final class DirectoryPages implements Listing.PageSource {
    /** So many pages come one after another before a directory is taken to be large. */
    static final int FIRST_PAGES = 4;

    /** The token of a page that is none of the store's: there is more. */
    private static final String MORE = "more";

    private final ObjectStore store;
    private final Source known;
    private final int concurrency;
    private final int mostHeld;
    private final Executor executor;
    private final LongSupplier nanoClock;

    /** Whether pages are in the order of their keys, so far. */
    private boolean ordered = true;

    /** Pages that came one after another. */
    private int pages;

    /** The last page that was handed out, if the store has more; its token is the store's, or null. */
    private @Nullable ListPage last;

    /** Asks for what comes behind that. */
    private @Nullable ListRequest next;

    private volatile @Nullable Ahead ahead;

    /** Knows pages without the store. */
    @FunctionalInterface
    interface Source {
        /** Null if it does not know the page. */
        @Nullable
        DatedPage page(ListRequest request);
    }

    /**
     * @param known asked first
     * @param concurrency requests at once for a large directory; 1 for one after another
     * @param mostHeld entries that are held at most until their turn comes
     */
    DirectoryPages(
            ObjectStore store, Source known, int concurrency, int mostHeld, Executor executor, LongSupplier nanoClock) {
        this.store = store;
        this.known = known;
        this.concurrency = concurrency;
        this.mostHeld = mostHeld;
        this.executor = executor;
        this.nanoClock = nanoClock;
    }

    @Override
    public @Nullable Long heldSince() {
        Ahead current = ahead;
        return current == null ? null : current.since;
    }

    @Override
    public DatedPage list(ListRequest request) throws ObjectStoreException, InterruptedException {
        DatedPage page = known.page(request);
        if (page != null) {
            return page;
        }
        if (!request.equals(next)) {
            stop();
            pages = 0;
        }
        page = isLarge() ? listAhead(request) : null;
        if (page == null) {
            page = listOne(request);
        }
        next = page.next();
        return page;
    }

    private boolean isLarge() {
        return ordered && concurrency > 1 && pages >= FIRST_PAGES && last != null;
    }

    private DatedPage listOne(ListRequest request) throws ObjectStoreException, InterruptedException {
        long askedAt = nanoClock.getAsLong();
        ListPage page = store.list(request);
        ListedPage listed = ListedPage.of(page);
        ordered &= listed.ascending() && listed.size() > 0;
        pages++;
        last = page;
        return new DatedPage(page, page.nextToken() == null ? null : request.next(page.nextToken()), askedAt);
    }

    /** Null if the store turns out not to list by key. */
    private @Nullable DatedPage listAhead(ListRequest request) throws ObjectStoreException, InterruptedException {
        Ahead current = ahead;
        if (current == null || current.isSpent()) {
            current = begin(request);
        }
        Arrived arrived;
        try {
            arrived = current.take();
        } catch (ObjectStoreException | InterruptedException | RuntimeException e) {
            ahead = null; // who asks again begins where this ended
            throw e;
        }
        if (arrived == null && current.lister.isSequential()) {
            // From where it began, by the store's token. Names may come twice.
            stop();
            ordered = false;
            return listOne(current.request);
        } else if (arrived == null) {
            ahead = null;
            return new DatedPage(new ListPage(List.of(), List.of(), null), null, nanoClock.getAsLong());
        }
        ListPage page = arrived.page.page();
        last = new ListPage(page.objects(), page.commonPrefixes(), null);
        ListRequest following =
                new ListRequest(request.prefix(), request.delimiter(), arrived.page.last(), null, request.maxKeys());
        return new DatedPage(new ListPage(page.objects(), page.commonPrefixes(), MORE), following, arrived.askedAt);
    }

    private Ahead begin(ListRequest request) {
        Ahead begun = new Ahead(request, nanoClock.getAsLong());
        ListPage before = last;
        if (before != null) {
            begun.lister.beginBehind(before);
        }
        ahead = begun;
        begun.lister.start();
        return begun;
    }

    @Override
    public int held() {
        Ahead current = ahead;
        return current == null ? 0 : current.entries();
    }

    @Override
    public void leave() {
        stop();
    }

    private void stop() {
        Ahead current = ahead;
        ahead = null;
        if (current != null) {
            current.lister.stop();
        }
    }

    private record Arrived(ListedPage page, long askedAt) {}

    /** What several requests bring, until its turn comes. */
    private final class Ahead implements RangeLister.Collector<Ahead> {
        /** For each entry that was taken so many may be held, so that who reads the first thousands only pays for few. */
        private static final int HELD_FOR_TAKEN = 8;

        private static final int LEAST_HELD = 32 * ListRequest.MAX_KEYS;

        private final ListRequest request;
        private final long since;
        private final RangeLister<Ahead> lister;

        /** By their first keys. Guarded by the monitor, as all that follows. */
        private final TreeMap<String, Arrived> held = new TreeMap<>(KeyOrder.COMPARATOR);

        private int entries;
        private long taken;
        private boolean isAwaited;

        /** @param since when it begins: nanoseconds */
        Ahead(ListRequest request, long since) {
            this.request = request;
            this.since = since;
            this.lister = new RangeLister<>(
                    store, request.prefix(), request.delimiter(), concurrency, executor, nanoClock, this);
        }

        /**
         * The page that is next in order, once it has come: null behind the last.
         *
         * @throws ObjectStoreException if the listing has failed before that page came; what came beyond it is of no use
         */
        @Nullable
        Arrived take() throws ObjectStoreException, InterruptedException {
            expect();
            lister.go();
            lister.awaitSettled(this::firstKey);
            if (lister.isSequential()) {
                return null;
            }
            Arrived page = poll();
            lister.go();
            return page;
        }

        /** Whether it failed while nobody waited for it, and has no page that is next. */
        boolean isSpent() {
            String first = firstKey();
            return lister.hasFailed() && (first == null || !lister.isSettledUpTo(first));
        }

        private synchronized void expect() {
            isAwaited = true;
        }

        synchronized int entries() {
            return entries;
        }

        private synchronized @Nullable String firstKey() {
            return held.isEmpty() ? null : held.firstKey();
        }

        private synchronized @Nullable Arrived poll() {
            isAwaited = false;
            Map.Entry<String, Arrived> first = held.pollFirstEntry();
            if (first == null) {
                return null;
            }
            int size = first.getValue().page.size();
            entries -= size;
            taken += size;
            return first.getValue();
        }

        @Override
        public Ahead begin() {
            return this;
        }

        @Override
        public synchronized void page(Ahead range, ListPage page, long askedAt) {
            ListedPage listed = ListedPage.of(page);
            String first = listed.first();
            if (first != null) {
                held.put(first, new Arrived(listed, askedAt));
                entries += listed.size();
            }
        }

        @Override
        public synchronized Demand demand() {
            long most = Math.min(mostHeld, LEAST_HELD + HELD_FOR_TAKEN * taken);
            if (entries < most) {
                return Demand.NEAREST;
            }
            return isAwaited ? Demand.NEXT : Demand.NOTHING;
        }
    }
}

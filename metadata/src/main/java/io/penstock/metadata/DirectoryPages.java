package io.penstock.metadata;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.listing.ListedPage;
import io.penstock.listing.RangeLister;
import io.penstock.listing.RangeLister.Demand;
import io.penstock.metadata.Listing.DatedPage;
import io.penstock.objectstore.KeyOrder;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.PageProgress;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The pages of one directory, in order. The first few are listed one after another. Those of a large directory are
 * listed with several concurrent requests ({@link RangeLister}), and are queued until it is their turn.
 *
 * <p>For one caller at a time; any thread may call {@link #isAhead}.
 */
final class DirectoryPages implements Listing.PageSource {
    /** The number of sequential pages after which a directory counts as large. */
    static final int FIRST_PAGES = 4;

    /** A token that means "there is more", for pages without a token of the store. */
    private static final String MORE = "more";

    private final ObjectStore store;
    private final Source known;
    private final int concurrency;
    private final int mostHeld;
    private final Executor executor;
    private final LongSupplier nanoClock;

    /** Of the pages listed one after another; null before the first and after the last, to save memory. */
    private @Nullable PageProgress progress;

    /** Whether all pages so far are in the order of their keys. */
    private boolean ordered = true;

    /** The number of pages listed one after another. */
    private int pages;

    /** The last page handed out, if the store has more; its token is the store's, or null. */
    private @Nullable ListPage last;

    /** The request for the page after it. */
    private @Nullable ListRequest next;

    private volatile @Nullable Ahead ahead;

    /** Has pages without a request to the store. */
    interface Source {
        /** Null if the page is unknown. */
        @Nullable
        DatedPage page(ListRequest request);

        /** The store has returned this page, one of the first: those of a large directory are not reported. */
        void listed(ListRequest request, ListPage page);
    }

    /**
     * @param known asked before the store
     * @param concurrency concurrent requests for a large directory; 1 for sequential requests
     * @param mostHeld maximum number of queued entries
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
    public boolean isAhead() {
        return ahead != null;
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
            progress = null;
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
        PageProgress begun = progress == null ? PageProgress.of(request) : progress;
        begun.came(page);
        progress = page.nextToken() == null ? null : begun;
        known.listed(request, page);
        ListedPage listed = ListedPage.of(page);
        ordered &= listed.ascending() && listed.size() > 0;
        pages++;
        last = page;
        return new DatedPage(page, page.nextToken() == null ? null : request.next(page.nextToken()), askedAt);
    }

    /** Returns null if the store turns out not to list in the order of keys. */
    private @Nullable DatedPage listAhead(ListRequest request) throws ObjectStoreException, InterruptedException {
        Ahead current = ahead;
        if (current == null || current.isSpent()) {
            current = begin(request);
        }
        Arrived arrived;
        try {
            arrived = current.take();
        } catch (ObjectStoreException | InterruptedException | RuntimeException e) {
            ahead = null; // the next caller begins where this one ended
            throw e;
        }
        if (arrived == null && current.lister.isSequential()) {
            // Restarts at the range's beginning with the store's token. Names may come twice.
            stop();
            ordered = false;
            progress = null;
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
        Ahead begun = new Ahead(request);
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

    /** Pages that concurrent requests have returned and that are queued. */
    private final class Ahead implements RangeLister.Collector<Ahead> {
        /** Queued entries allowed for each entry taken: a reader of the first thousands causes few requests. */
        private static final int HELD_FOR_TAKEN = 8;

        private static final int LEAST_HELD = 32 * ListRequest.MAX_KEYS;

        private final ListRequest request;
        private final RangeLister<Ahead> lister;

        /** By their first keys. */
        @GuardedBy("this")
        private final TreeMap<String, Arrived> held = new TreeMap<>(KeyOrder.COMPARATOR);

        @GuardedBy("this")
        private int entries;

        @GuardedBy("this")
        private long taken;

        @GuardedBy("this")
        private boolean isAwaited;

        Ahead(ListRequest request) {
            this.request = request;
            this.lister = new RangeLister<>(
                    store, request.prefix(), request.delimiter(), concurrency, executor, nanoClock, this);
        }

        /**
         * The next page in order, once it has arrived; null after the last.
         *
         * @throws ObjectStoreException if the listing failed before that page; later pages are then useless
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

        /** Whether the listing failed while no thread was waiting, and the next page has not arrived. */
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

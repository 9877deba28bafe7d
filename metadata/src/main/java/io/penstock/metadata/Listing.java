package io.penstock.metadata;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.SharedRequests;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One directory's entries, from the store's pages. Any number of readers share it, each by index; an entry keeps its
 * index as long as the listing is held. Threads fetch page after page, up to {@link #AHEAD} entries ahead of the
 * furthest reader, so fetching stops when readers stop:
 *
 * <pre>
 *   IDLE ─────a reader comes near the last entry──▶ FETCHING ──last page──▶ COMPLETE
 *      ▲                                               │
 *      └───far enough ahead, or the store failed───────┘
 * </pre>
 *
 * <p>A listing that grows beyond its limit drops its first entries. A reader that still needs them begins another
 * listing, and finds the same entries at the same indexes unless the directory has changed.
 *
 * <p>Safe for use by any number of threads. The monitor is never held across a call to the store.
 */
public final class Listing {
    /**
     * How far fetching may run ahead of the furthest reader, in entries: a page and a half, so that one page is fetched
     * while the previous one is read. (The last entry of a page may be held back until the next.)
     */
    static final int AHEAD = ListRequest.MAX_KEYS + ListRequest.MAX_KEYS / 2;

    private static final AtomicLong NUMBERS = new AtomicLong();

    private final long number = NUMBERS.incrementAndGet();
    private final Directory directory;
    private final PageSource source;
    private final Executor executor;
    private final EmptiedDirectories emptied;
    private final PageListener onPage;
    private final int mostHeld;

    /** No entry is older than this. */
    @GuardedBy("this")
    private long startedAt;

    @GuardedBy("this")
    private final Entries entries;

    /** The page to fetch next; null when COMPLETE. */
    @GuardedBy("this")
    private @Nullable ListRequest next;

    /** Completes with the page in flight; null unless FETCHING. */
    @GuardedBy("this")
    private @Nullable CompletableFuture<DatedPage> inFlight;

    /** The last page that failed: its failure goes to all threads waiting then, even for the page before. */
    private @Nullable CompletableFuture<DatedPage> failed;

    /** Written by one thread at a time. */
    private volatile int failures;

    /** Answers and changes while a page is in flight or queued; they override the page if it is older. */
    @GuardedBy("this")
    private final Map<String, LookupCache.Dated> newer = new HashMap<>();

    /** The number of entries that it may hold before it is weighed again. */
    @GuardedBy("this")
    private int room;

    /** The highest index that a reader requested. */
    @GuardedBy("this")
    private int furthest;

    /** The source of the pages. */
    @FunctionalInterface
    interface PageSource {
        /** The first page, or the {@linkplain DatedPage#next next}. Called by one thread at a time. */
        DatedPage list(ListRequest request) throws ObjectStoreException, InterruptedException;

        /** Whether later pages may have been requested already. */
        default boolean isAhead() {
            return false;
        }

        /** The number of held entries of later pages. */
        default int held() {
            return 0;
        }

        /** No reader is about to continue: drops the pages fetched ahead. Not called during {@link #list}. */
        default void leave() {}
    }

    /**
     * @param next the request for the page after it; null on the last
     * @param asOf when the store was asked for the page, on the tree's clock: nanoseconds
     */
    record DatedPage(ListPage page, @Nullable ListRequest next, long asOf) {}

    /** Notified of each page that has arrived. Called without the monitor. */
    @FunctionalInterface
    interface PageListener {
        /** @param from the index of its first entry */
        void arrived(Listing listing, int from);
    }

    /**
     * @param onPage called after each page
     * @param mostHeld entries: above this number a quarter is dropped
     */
    Listing(
            Directory directory,
            PageSource source,
            HiddenKeys hidden,
            Executor executor,
            LongSupplier nanoClock,
            EmptiedDirectories emptied,
            PageListener onPage,
            int mostHeld) {
        this.directory = directory;
        this.source = source;
        this.executor = executor;
        this.emptied = emptied;
        this.onPage = onPage;
        this.mostHeld = mostHeld;
        this.startedAt = nanoClock.getAsLong();
        this.entries = new Entries(directory, hidden);
        this.next = ListRequest.of(directory.prefix(), "/");
    }

    /**
     * An entry of the listing.
     *
     * @param asOf when the store was asked, on the tree's clock: nanoseconds
     */
    public record Entry(String name, Node node, long asOf) {}

    /**
     * Waits until the entry at {@code index} exists, or it is certain that there is none.
     *
     * @return whether there is such an index
     */
    public boolean await(int index) throws ObjectStoreException, InterruptedException {
        int before = failures;
        while (true) {
            CompletableFuture<DatedPage> page;
            synchronized (this) {
                furthest = Math.max(furthest, index);
                if (failures == before) {
                    fetchIfNear();
                }
                page = failures == before ? inFlight : failed;
                if (index < entries.size() || page == null) {
                    return index < entries.size();
                }
            }
            SharedRequests.await(page);
        }
    }

    /** Whether {@link #await} would return true without waiting. */
    public synchronized boolean has(int index) {
        return index < entries.size();
    }

    /** The entry at an index that {@link #has}; null if it was removed since it was listed, or dropped. */
    public synchronized @Nullable Entry get(int index) {
        return entries.get(index);
    }

    /** Whether the entry at this index, for which {@link #get} returns null, was dropped. */
    public synchronized boolean hasDropped(int index) {
        return entries.hasDropped(index);
    }

    /** The index of the entry with this name; -1 if the listing does not have it so far, or dropped it. */
    public synchronized int indexOf(String name) {
        return entries.indexOf(name);
    }

    /** The directory whose entries these are. */
    public Directory directory() {
        return directory;
    }

    /** One above the last index so far. */
    public synchronized int size() {
        return entries.size();
    }

    /** Whether it has all entries of the directory. */
    public synchronized boolean isWhole() {
        return entries.isWhole();
    }

    /**
     * Identifies the present state of this listing. Entries read before, including the end, are valid as long as it
     * does not change.
     */
    public synchronized String generation() {
        return number + "." + entries.changes();
    }

    /** Whether another opendir at {@code now} may share it: not if it has doubted entries, which readers would see. */
    synchronized boolean isShareable(long now, long ttlNanos) {
        return now - startedAt < ttlNanos && !entries.hasDropped(0) && !entries.areDoubted();
    }

    /** Whether this listing has a newer state of the name than an answer from {@code asOf}. */
    synchronized boolean supersedes(String name, long asOf) {
        Entry entry = entries.get(name);
        return entry == null
                ? (entries.isWhole() || entries.hasDropped(0)) && asOf - startedAt < 0
                : asOf - entry.asOf() < 0;
    }

    /**
     * When the directory had no marker object, on the tree's clock: nanoseconds. Null if it has one, or if it was not
     * listed completely or too long ago.
     */
    synchronized @Nullable Long hadNoMarker(long now, long ttlNanos) {
        return entries.isWhole() && !entries.isMarked() && now - startedAt < ttlNanos ? (Long) startedAt : null;
    }

    /** The number of entries that it holds, including those fetched ahead. */
    synchronized int held() {
        return entries.held() + source.held();
    }

    /** The number of entries that it is weighed with; never below {@link #held}. */
    synchronized int weight() {
        return Math.max(room, held());
    }

    /**
     * Whether answers and changes have made it larger than its weight; to be called after each. If so, it must be
     * weighed again, with room for a quarter more so that it is not weighed with each name.
     */
    synchronized boolean isOutgrown() {
        int held = held();
        if (held <= room) {
            return false;
        }
        room = held + held / 4;
        return true;
    }

    /** Whether answers and changes have made it larger than pages ever do. */
    synchronized boolean isOvergrown() {
        return entries.held() > mostHeld || newer.size() > mostHeld;
    }

    /** A reader stops: drops the pages fetched ahead, unless another reader continues. */
    synchronized void leave() {
        if (inFlight == null) {
            source.leave();
            forgetNewer();
        }
    }

    /** The listing's answer about a name; null if the listing has not reached it, or its answer is wrong or expired. */
    synchronized @Nullable CachedLookup find(String name, long now, long ttlNanos, long negativeTtlNanos) {
        if (!entries.isAnswer(name)) {
            return null;
        }
        Entry entry = entries.get(name);
        if (entry != null) {
            return cached(entry.node(), ttlNanos - (now - entry.asOf()));
        }
        return entries.isWhole() ? cached(Absent.ABSENT, negativeTtlNanos - (now - startedAt)) : null;
    }

    private static @Nullable CachedLookup cached(Answer answer, long nanos) {
        return nanos > 0 ? new CachedLookup(answer, nanos) : null;
    }

    /** Marks the answer of {@link #find} as wrong until {@link #correct} or another listing replaces it. */
    synchronized void doubt(String name) {
        entries.doubt(name);
    }

    /**
     * Like {@link #doubt}, for a name changed here: readers see the change, so the next opendir may still share the
     * listing.
     */
    synchronized void forget(String name) {
        entries.forget(name);
    }

    /** Applies an answer about one name, unless the listed entry comes from a later request. */
    synchronized void correct(String name, LookupCache.Dated answer) {
        if (inFlight != null || source.isAhead()) {
            newer.put(name, answer);
        }
        if (answer.asOf() - startedAt >= 0) {
            entries.correct(name, answer.answer(), answer.asOf());
        }
    }

    /** Starts fetching the next page if none is in flight and the furthest reader is near. */
    @GuardedBy("this")
    private void fetchIfNear() {
        ListRequest request = next;
        if (inFlight == null && request != null && entries.size() < furthest + AHEAD) {
            inFlight = SharedRequests.start(executor, () -> fetch(request));
        }
    }

    private DatedPage fetch(ListRequest request) throws ObjectStoreException, InterruptedException {
        DatedPage page;
        try {
            page = source.list(request);
        } catch (Throwable e) {
            stopFetching();
            throw e;
        }
        onPage.arrived(this, arrived(page));
        return page;
    }

    private synchronized void stopFetching() {
        failures++;
        failed = inFlight;
        inFlight = null;
        forgetNewer();
    }

    @GuardedBy("this")
    private void forgetNewer() {
        if (!source.isAhead()) {
            newer.clear();
        }
    }

    /** @return the index of the page's first entry */
    private synchronized int arrived(DatedPage page) {
        int from = entries.size();
        inFlight = null;
        if (page.asOf() - startedAt < 0) {
            startedAt = page.asOf();
        }
        entries.append(page.page(), page.asOf());
        page.page().objects().forEach(object -> correctIfNewer(object.version().key(), page.asOf()));
        page.page()
                .commonPrefixes()
                .forEach(prefix -> correctIfNewer(prefix.substring(0, prefix.length() - 1), page.asOf()));
        forgetNewer();
        next = page.next();
        if (next == null) {
            emptied.complete(entries, startedAt);
            entries.complete();
        }
        if (entries.held() > mostHeld) {
            entries.drop(mostHeld - mostHeld / 4);
        }
        room = held();
        fetchIfNear();
        return from;
    }

    /** The key is on a page requested at that time. */
    @GuardedBy("this")
    private void correctIfNewer(String key, long asOf) {
        String name = key.substring(directory.prefix().length());
        LookupCache.Dated answer = newer.get(name);
        if (answer != null && answer.asOf() - asOf >= 0) {
            entries.correct(name, answer.answer(), answer.asOf());
        }
    }
}

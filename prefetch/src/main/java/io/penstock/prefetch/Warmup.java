package io.penstock.prefetch;

import static io.penstock.cache.PageCache.PAGE_SIZE;

import io.penstock.cache.CachedObject.Storing;
import io.penstock.cache.Fill;
import io.penstock.cache.PageState;
import io.penstock.cache.Urgency;
import io.penstock.cache.disk.Pins;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Fetches object versions onto the cache's disk, in the order given, with as many concurrent GETs as the mount may
 * have. GETs that a reader waits for go first, and those of readahead take turns with these. Pages on the disk cost no
 * GET.
 *
 * <p>Fetched pages are not evicted before {@link #close}, so none displaces another.
 *
 * <p>Confined to one thread, which an interrupt ends; only {@link #bytes} is for any thread.
 */
public final class Warmup implements AutoCloseable {
    /** The maximum number of versions open at a time; some KiB of heap each. */
    private static final int MOST_OPEN = 1024;

    /** Milliseconds until the next check where memory is short or the disk has not written everything. */
    private static final int PAUSE_MILLIS = 2;

    /** How often to write, or fetch again, a page that the disk does not accept. */
    private static final int TRIES = 3;

    private final PageFetcher fetcher;
    private final Pins.Session session;
    private final Pace pace;
    private final Listener listener;

    /** In the order given. */
    private final ArrayDeque<Coming> coming = new ArrayDeque<>();

    private final LongAdder bytes = new LongAdder();

    /** The result of bringing in a version. */
    public enum Outcome {
        /** Nothing had to be fetched. */
        CACHED,
        FETCHED,
        /** The store now has another version. */
        CHANGED,
        /** The store no longer has the object. */
        GONE,
        /** Pinned and fetched versions leave no room for it: nothing of it was fetched. */
        NO_ROOM,
        /** The cache's disk has not accepted all of it: it is full, slow or sick. */
        NOT_STORED,
        /** The store has failed. */
        FAILED
    }

    /** Called once for each version, by the thread that uses the Warmup. */
    @FunctionalInterface
    public interface Listener {
        /** @param why the exception of {@link Outcome#FAILED}; null for all others */
        void done(ObjectVersion version, Outcome outcome, @Nullable Exception why);
    }

    /** A version that is being fetched. */
    private static final class Coming {
        final OpenVersion object;
        final ObjectVersion version;
        final long pages;
        final AtomicInteger running = new AtomicInteger();

        /** All pages before it are on disk. */
        long stored;

        /** Failed attempts to store the page there. */
        int tries;

        boolean isFetched;

        /** The exception of the last GET that failed. */
        volatile @Nullable Exception failure;

        Coming(OpenVersion object) {
            this.object = object;
            this.version = object.cached.version();
            this.pages = OpenVersion.pages(version.size());
        }
    }

    /** @param pace limits the fetches */
    public Warmup(PageFetcher fetcher, Pace pace, Listener listener) {
        this.fetcher = fetcher;
        this.session = fetcher.cache().pins().begin();
        this.pace = pace;
        this.listener = listener;
    }

    /** The bytes that were already cached or have arrived. For any thread. */
    public long bytes() {
        return bytes.sum();
    }

    /** Begins to fetch a version. Waits for a slot, for memory, and for the disk where it is far behind. */
    public void bring(ObjectVersion version) throws InterruptedException {
        if (!session.add(fetcher.namespace(), version)) {
            listener.done(version, Outcome.NO_ROOM, null);
            return;
        }
        Coming next = new Coming(fetcher.share(version));
        coming.add(next);
        bytes.add(version.size() - missingBytes(next));
        fetch(next, 0, next.pages);
        settle(MOST_OPEN);
    }

    /** Waits until everything that can be fetched is there. */
    public void finish() throws InterruptedException {
        settle(0);
    }

    private static long missingBytes(Coming it) {
        long missing = 0;
        for (long page = 0; page < it.pages; page++) {
            if (it.object.cached.state(page) == PageState.MISSING) {
                missing += Math.min(PAGE_SIZE, it.version.size() - page * PAGE_SIZE);
            }
        }
        return missing;
    }

    /** Fetches the Missing pages in this range, as long as the disk accepts any. */
    private void fetch(Coming it, long from, long end) throws InterruptedException {
        for (long page = from; page < end && fetcher.cache().takesPages(); ) {
            long boundary = rangeEnd(it, page);
            Fill fill = claim(it.object, page, boundary);
            page = fill == null ? boundary : OpenVersion.pages(fill.range().end());
            if (fill != null) {
                start(it, fill);
            }
        }
    }

    /** The end of the GET for this page. */
    private long rangeEnd(Coming it, long page) {
        long most = OpenVersion.pages(fetcher.rangeBytes(it.version));
        return Math.min((page / most + 1) * most, it.pages);
    }

    /** Null if none of these pages is Missing. */
    private @Nullable Fill claim(OpenVersion object, long page, long end) throws InterruptedException {
        while (object.anyMissing(page, end)) {
            TimeUnit.NANOSECONDS.sleep(pace.nanosToWait());
            if (fetcher.cache().hasMemoryFor((end - page) * PAGE_SIZE)) { // else the GET would be too small
                fetcher.awaitSlot();
                Fill fill = fetcher.claim(() -> object.cached.claim(page, end, Urgency.LATER));
                if (fill != null) {
                    return fill;
                }
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
        return null;
    }

    private void start(Coming it, Fill fill) {
        it.isFetched = true;
        it.object.history.fetchedAhead(FetchedAhead.WARMUP);
        it.running.incrementAndGet();
        pace.take(fill.range().length());
        fetcher.fetchAhead(it.object, fill, failure -> {
            if (failure == null) {
                bytes.add(fill.range().length());
            } else {
                it.failure = failure;
            }
            it.running.decrementAndGet();
        });
    }

    /** Reports the outcomes of finished versions, and waits until at most this many are left. */
    private void settle(int most) throws InterruptedException {
        while (!coming.isEmpty()) {
            Coming first = coming.getFirst();
            Outcome outcome = outcome(first);
            if (outcome != null) {
                coming.removeFirst();
                fetcher.closed(first.object);
                listener.done(first.version, outcome, outcome == Outcome.FAILED ? first.failure : null);
            } else if (coming.size() > most) {
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            } else {
                return;
            }
        }
    }

    /** Null if not finished. */
    private @Nullable Outcome outcome(Coming it) throws InterruptedException {
        if (it.running.get() > 0) {
            return null;
        }
        Exception failure = it.failure;
        if (failure != null) {
            return switch (failure) {
                case ObjectStoreException.PreconditionFailed _ -> Outcome.CHANGED;
                case ObjectStoreException.NotFound _ -> Outcome.GONE;
                default -> Outcome.FAILED;
            };
        }
        while (it.stored < it.pages) {
            Storing storing = it.object.cached.store(it.stored);
            if (storing == Storing.STORED) {
                it.stored++;
                it.tries = 0;
                continue;
            } else if (storing == Storing.UNDER_WAY) {
                return null;
            } else if (it.tries++ == TRIES || !fetcher.cache().takesPages()) {
                return Outcome.NOT_STORED;
            } else if (storing == Storing.MISSING) {
                fetch(it, it.stored, rangeEnd(it, it.stored));
            }
            return null;
        }
        return it.isFetched ? Outcome.FETCHED : Outcome.CACHED;
    }

    /** Gives up running fetches, unless a reader waits for them. */
    @Override
    public void close() {
        coming.forEach(it -> fetcher.closed(it.object));
        coming.clear();
        session.close();
    }
}

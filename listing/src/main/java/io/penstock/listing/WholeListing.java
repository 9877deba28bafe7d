package io.penstock.listing;

import io.penstock.objectstore.KeyOrder;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListPages;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Lists all objects below a prefix into a {@link KeyTable}, with several concurrent requests. Where the store refuses
 * to list a prefix, its folders are listed one by one; refused folders are left out.
 *
 * <p>One instance lists once. Any thread may ask for the progress and call {@link #stop}.
 */
public final class WholeListing implements AutoCloseable {
    /** The number of refused prefixes after which it gives up: each costs one or two requests. */
    private static final int MOST_REFUSED = 1_000;

    /** Building a larger table leaves enough garbage to collect at once: about two million names, in bytes. */
    private static final long WORTH_COLLECTING = 64L << 20;

    private final ObjectStore store;
    private final String prefix;
    private final int concurrency;
    private final long mostBytes;
    private final Executor executor;
    private final LongSupplier nanoClock;
    private final Collected collected = new Collected();
    private final List<String> refused = new ArrayList<>();

    /** Counts of listers that have ended. */
    private final AtomicLong listedBefore = new AtomicLong();

    private final AtomicLong requestsBefore = new AtomicLong();
    private volatile @Nullable RangeLister<KeyTableBuilder> lister;
    private volatile @Nullable String stopped;

    /**
     * @param refused prefixes that the store refuses to list: the objects below them are unknown
     * @param requests the number of requests made
     */
    public record Listed(KeyTable table, List<String> refused, long requests) {}

    /** @param mostBytes maximum memory for objects: more ends the listing */
    public WholeListing(
            ObjectStore store,
            String prefix,
            int concurrency,
            long mostBytes,
            Executor executor,
            LongSupplier nanoClock) {
        this.store = store;
        this.prefix = prefix;
        this.concurrency = concurrency;
        this.mostBytes = mostBytes;
        this.executor = executor;
        this.nanoClock = nanoClock;
    }

    /**
     * Lists; to be called once.
     *
     * @throws ObjectStoreException if the store fails, or refuses everything
     * @throws CancellationException if it was {@linkplain #stop stopped}; its message says why
     * @throws IllegalArgumentException if keys cannot be kept in order
     */
    public Listed list() throws ObjectStoreException, InterruptedException {
        List<KeyTableBuilder> inOrder = new ArrayList<>();
        try {
            below(prefix, inOrder);
        } catch (CancellationException e) {
            throw new CancellationException(stopped);
        }
        return new Listed(KeyTable.join(inOrder), List.copyOf(refused), requestsBefore.get());
    }

    private void below(String folder, List<KeyTableBuilder> inOrder) throws ObjectStoreException, InterruptedException {
        RangeLister<KeyTableBuilder> flat =
                new RangeLister<>(store, folder, "", concurrency, executor, nanoClock, collected);
        lister = flat;
        if (stopped != null) {
            flat.stop();
        }
        try {
            inOrder.addAll(flat.list());
        } catch (ObjectStoreException.AccessDenied e) {
            folders(folder, inOrder, e);
        } finally {
            listedBefore.addAndGet(flat.listed());
            requestsBefore.addAndGet(flat.requests());
            lister = null;
        }
    }

    /** Lists the folders of a prefix one by one, because a flat listing was refused. */
    private void folders(String folder, List<KeyTableBuilder> inOrder, ObjectStoreException.AccessDenied why)
            throws ObjectStoreException, InterruptedException {
        if (refused.size() >= MOST_REFUSED) {
            throw why;
        }
        Items items = new Items(folder);
        ListPages pages = new ListPages(store::list, ListRequest.of(folder, "/"));
        while (true) {
            long askedAt = nanoClock.getAsLong();
            ListPage page;
            try {
                page = pages.next();
            } catch (ObjectStoreException.AccessDenied e) {
                if (folder.equals(prefix)) {
                    throw e;
                }
                refused.add(folder);
                return;
            }
            if (page == null) {
                return;
            }
            requestsBefore.incrementAndGet();
            items.add(page, askedAt, inOrder);
        }
    }

    /** A folder's objects and folders, in the order of their keys. */
    private final class Items {
        private final String folder;
        private @Nullable String lastFolder;

        Items(String folder) {
            this.folder = folder;
        }

        void add(ListPage page, long askedAt, List<KeyTableBuilder> inOrder)
                throws ObjectStoreException, InterruptedException {
            int next = 0;
            for (String child : page.commonPrefixes()) {
                int upTo = next;
                while (upTo < page.objects().size() && isBefore(page.objects().get(upTo), child)) {
                    upTo++;
                }
                objects(page.objects().subList(next, upTo), askedAt, inOrder);
                next = upTo;
                if (!child.equals(lastFolder) && !child.equals(folder)) {
                    lastFolder = child;
                    below(child, inOrder);
                }
            }
            objects(page.objects().subList(next, page.objects().size()), askedAt, inOrder);
        }

        private boolean isBefore(StoredObject object, String child) {
            return KeyOrder.compare(object.version().key(), child) < 0;
        }

        private void objects(List<StoredObject> objects, long askedAt, List<KeyTableBuilder> inOrder) {
            KeyTableBuilder range = collected.begin();
            collected.page(range, new ListPage(objects, List.of(), null), askedAt);
            inOrder.add(range);
        }
    }

    /** Stops the listing. */
    public void stop(String why) {
        stopped = why;
        RangeLister<?> current = lister;
        if (current != null) {
            current.stop();
        }
    }

    /** The number of objects so far. */
    public long listed() {
        RangeLister<?> current = lister;
        return listedBefore.get() + (current == null ? 0 : current.listed());
    }

    /** The estimated share of the key space that has been listed: 0 to 1. */
    public double share() {
        RangeLister<?> current = lister;
        return current == null || listedBefore.get() > 0 ? 0 : current.share();
    }

    /**
     * Sorting very many names leaves several times their size as garbage in the old generation, where it would stay
     * until the heap has grown to its limit. Collecting it takes some tenths of a second.
     */
    public static void collectGarbage(long tableBytes) {
        if (tableBytes > WORTH_COLLECTING) {
            Runtime.getRuntime().gc();
        }
    }

    /** Frees the memory that no table has taken over. */
    @Override
    public void close() {
        collected.close();
    }

    /** Collects the objects of one range of keys. */
    private final class Collected implements RangeLister.Collector<KeyTableBuilder> {
        private final Queue<KeyTableBuilder> begun = new ConcurrentLinkedQueue<>();
        private final AtomicLong bytes = new AtomicLong();

        @Override
        public KeyTableBuilder begin() {
            KeyTableBuilder range = new KeyTableBuilder();
            begun.add(range);
            return range;
        }

        @Override
        public void page(KeyTableBuilder range, ListPage page, long askedAt) {
            long before = range.bytes();
            range.page(askedAt);
            for (StoredObject object : page.objects()) {
                if (KeyOrder.isUnicode(object.version().key())) { // others are not shown
                    range.add(object);
                }
            }
            if (bytes.addAndGet(range.bytes() - before) > mostBytes) {
                stop("it takes more than metadata.preload-memory");
            }
        }

        void close() {
            begun.forEach(KeyTableBuilder::close);
        }
    }
}

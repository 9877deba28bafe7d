package io.penstock.listing;

import io.penstock.core.Printable;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.SharedRequests.StoreCall;
import io.penstock.objectstore.StoredObject;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * All objects below a prefix, each once, in the order of their keys' UTF-8. They are listed with several concurrent
 * requests, and take some 30 bytes an object outside the heap until this is closed. Immutable.
 *
 * <p>Any number of threads may iterate at the same time, each with its own iterator.
 */
public final class BucketListing implements Iterable<StoredObject>, AutoCloseable {
    private static final int PROGRESS_SECONDS = 1;

    private final KeyTable table;

    private BucketListing(KeyTable table) {
        this.table = table;
    }

    /**
     * Lists all objects, and returns when the listing is complete. A store without order, such as a directory bucket,
     * is listed page by page.
     *
     * @param prefix the beginning of all keys; empty for the whole bucket
     * @param concurrency maximum number of concurrent requests: 1 or more
     * @param progress receives the number of objects about once a second, on another thread
     */
    public static BucketListing list(ObjectStore store, String prefix, int concurrency, LongConsumer progress)
            throws ObjectStoreException, InterruptedException {
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            try {
                return new BucketListing(inOrder(store, prefix, concurrency, progress, executor));
            } catch (IllegalArgumentException e) {
                return new BucketListing(inNoOrder(store, prefix, progress, executor));
            }
        } catch (IllegalArgumentException e) {
            throw new ObjectStoreException.Corrupt(
                    "the listing of 's3://" + store.bucket() + "/" + Printable.text(prefix) + "' has invalid keys: "
                            + e.getMessage(),
                    e);
        }
    }

    private static KeyTable inOrder(
            ObjectStore store, String prefix, int concurrency, LongConsumer progress, Executor executor)
            throws ObjectStoreException, InterruptedException {
        try (WholeListing whole =
                new WholeListing(store, prefix, concurrency, Long.MAX_VALUE, executor, System::nanoTime)) {
            WholeListing.Listed listed = run(whole::list, whole::listed, progress, executor);
            if (!listed.refused().isEmpty()) {
                listed.table().close();
                throw new ObjectStoreException.AccessDenied(
                        "the store refuses to list 's3://" + store.bucket() + "/"
                                + Printable.text(listed.refused().getFirst())
                                + "', so the listing would be incomplete; list a folder that these credentials may"
                                + " list",
                        null);
            }
            return listed.table();
        }
    }

    private static KeyTable inNoOrder(ObjectStore store, String prefix, LongConsumer progress, Executor executor)
            throws ObjectStoreException, InterruptedException {
        try (KeyTableSorter sorter = new KeyTableSorter(System.nanoTime())) {
            RangeLister<KeyTableSorter> lister =
                    new RangeLister<>(store, prefix, "", 1, executor, System::nanoTime, new Sorted(sorter));
            run(lister::list, lister::listed, progress, executor);
            return sorter.finish();
        }
    }

    private static <T> T run(StoreCall<T> listing, LongSupplier listed, LongConsumer progress, Executor executor)
            throws ObjectStoreException, InterruptedException {
        CountDownLatch ended = new CountDownLatch(1);
        executor.execute(() -> report(listed, progress, ended));
        try {
            return listing.call();
        } finally {
            ended.countDown();
        }
    }

    private static void report(LongSupplier listed, LongConsumer progress, CountDownLatch ended) {
        try {
            while (!ended.await(PROGRESS_SECONDS, TimeUnit.SECONDS)) {
                progress.accept(listed.getAsLong());
            }
        } catch (InterruptedException e) {
            // the listing was interrupted
        }
    }

    /** One sorter for all ranges, which are listed one after another. */
    private record Sorted(KeyTableSorter sorter) implements RangeLister.Collector<KeyTableSorter> {
        @Override
        public KeyTableSorter begin() {
            return sorter;
        }

        @Override
        public void page(KeyTableSorter range, ListPage page, long askedAt) throws InterruptedException {
            for (StoredObject object : page.objects()) {
                range.add(object);
            }
        }
    }

    /** The number of objects. */
    public long size() {
        return table.size();
    }

    /** In the order of the keys' UTF-8; must not be used after this is closed. */
    @Override
    public Iterator<StoredObject> iterator() {
        KeyCursor cursor = table.cursor();
        return new Iterator<>() {
            private boolean hasNext = cursor.next();

            @Override
            public boolean hasNext() {
                return hasNext;
            }

            @Override
            public StoredObject next() {
                if (!hasNext) {
                    throw new NoSuchElementException();
                }
                StoredObject object = cursor.object();
                hasNext = cursor.next();
                return object;
            }
        };
    }

    /** Frees the memory. */
    @Override
    public void close() {
        table.close();
    }
}

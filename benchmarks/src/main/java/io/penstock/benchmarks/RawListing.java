package io.penstock.benchmarks;

import io.penstock.embeddeds3.SyntheticObjects;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListPages;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.tools.measure.Measurement;
import io.penstock.tools.measure.Workers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The ceiling of every listing: the rate of the mount's own S3 client if it knows where each page begins and discards
 * the names.
 */
final class RawListing {
    private final ObjectStore store;
    private final SyntheticObjects objects;

    /** @param objects all objects of the bucket */
    RawListing(ObjectStore store, SyntheticObjects objects) {
        this.store = store;
        this.objects = objects;
    }

    /**
     * Lists the whole bucket in order, this many pages at a time; an operation is an object.
     *
     * @throws BenchException unless each object was listed once
     */
    Measurement run(int concurrency) throws Exception {
        int pages = Math.toIntExact(TreeRig.pages(objects));
        AtomicLong listed = new AtomicLong();
        Measurement run = Workers.REQUESTS.run(concurrency, pages, (page, _) -> listed.addAndGet(list(page)));
        if (listed.get() != objects.count()) {
            throw new BenchException(listed + " names were listed of " + objects.count());
        }
        return Measurement.ofWhole(objects.count(), run.nanos());
    }

    /** All objects below a prefix, with one request after another; not measured. */
    static List<StoredObject> objects(ObjectStore store, String prefix)
            throws ObjectStoreException, InterruptedException {
        List<StoredObject> objects = new ArrayList<>();
        ListPages pages = new ListPages(store::list, ListRequest.of(prefix, ""));
        for (ListPage page = pages.next(); page != null; page = pages.next()) {
            objects.addAll(page.objects());
        }
        return objects;
    }

    private int list(int page) throws Exception {
        long first = (long) page * ListRequest.MAX_KEYS;
        String startAfter = first == 0 ? null : objects.key(first - 1);
        return store.list(new ListRequest("", "", startAfter, null, ListRequest.MAX_KEYS))
                .objects()
                .size();
    }
}

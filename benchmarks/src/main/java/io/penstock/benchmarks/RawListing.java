package io.penstock.benchmarks;

import io.penstock.embeddeds3.SyntheticObjects;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The ceiling of every listing: the rate of the mount's own S3 client when it knows where each page begins, and the
 * names are discarded.
 */
final class RawListing {
    private final ObjectStore store;
    private final SyntheticObjects objects;

    /** @param objects the objects of the bucket */
    RawListing(ObjectStore store, SyntheticObjects objects) {
        this.store = store;
        this.objects = objects;
    }

    /**
     * Lists the whole bucket, in order, so many pages at once; an operation is an object.
     *
     * @throws BenchException if not each of them was listed once
     */
    Measurement run(int concurrency) throws Exception {
        long pages = Math.ceilDiv(objects.count(), ListRequest.MAX_KEYS);
        AtomicLong next = new AtomicLong();
        AtomicLong listed = new AtomicLong();
        long start = System.nanoTime();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> lanes = new ArrayList<>();
            for (int lane = 0; lane < concurrency; lane++) {
                lanes.add(threads.submit(() -> {
                    for (long page; (page = next.getAndIncrement()) < pages; ) {
                        listed.addAndGet(list(page));
                    }
                    return null;
                }));
            }
            for (Future<?> lane : lanes) {
                lane.get();
            }
        }
        long nanos = System.nanoTime() - start;
        if (listed.get() != objects.count()) {
            throw new BenchException(listed + " names were listed of " + objects.count());
        }
        return Measurement.ofWhole(objects.count(), nanos);
    }

    private int list(long page) throws Exception {
        long first = page * ListRequest.MAX_KEYS;
        String startAfter = first == 0 ? null : objects.key(first - 1);
        return store.list(new ListRequest("", "", startAfter, null, ListRequest.MAX_KEYS))
                .objects()
                .size();
    }
}

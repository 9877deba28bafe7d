package io.penstock.listing;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.objectstore.KeyOrder;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ObjectStore;
import io.penstock.testing.Content;
import io.penstock.testing.InMemoryObjectStore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/** Code that tests of {@link RangeLister} share. */
final class RangeListing {
    private static final Content NOTHING = Content.of(new byte[0]);

    private RangeListing() {}

    /** A range: keys and common prefixes in the order of arrival. */
    static final class Collected {
        final List<String> names = new ArrayList<>();
        private final AtomicInteger threads = new AtomicInteger();

        void add(ListPage page) {
            assertThat(threads.incrementAndGet()).isOne();
            TreeSet<String> ofPage = new TreeSet<>(KeyOrder.COMPARATOR);
            page.objects().forEach(object -> ofPage.add(object.version().key()));
            ofPage.addAll(page.commonPrefixes());
            names.addAll(ofPage);
            threads.decrementAndGet();
        }
    }

    static RangeLister<Collected> lister(
            ObjectStore store, String prefix, String delimiter, int concurrency, Executor executor) {
        return new RangeLister<>(
                store, prefix, delimiter, concurrency, executor, () -> 0L, new RangeLister.Collector<Collected>() {
                    @Override
                    public Collected begin() {
                        return new Collected();
                    }

                    @Override
                    public void page(Collected range, ListPage page, long askedAt) {
                        range.add(page);
                    }
                });
    }

    /** Lists on a separate thread. */
    static CompletableFuture<List<String>> start(RangeLister<Collected> lister) {
        CompletableFuture<List<String>> result = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                result.complete(names(lister.list()));
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    static List<String> names(List<Collected> ranges) {
        return ranges.stream().flatMap(range -> range.names.stream()).toList();
    }

    static InMemoryObjectStore bucketOf(Collection<String> keys) {
        InMemoryObjectStore bucket = new InMemoryObjectStore();
        putAll(bucket, keys);
        return bucket;
    }

    static void putAll(InMemoryObjectStore bucket, Collection<String> keys) {
        keys.forEach(key -> bucket.put(key, NOTHING));
    }

    /** The entries that a listing of these keys shows. */
    static List<String> shown(Collection<String> keys, String prefix, String delimiter) {
        TreeSet<String> shown = new TreeSet<>(KeyOrder.COMPARATOR);
        for (String key : keys) {
            int at = delimiter.isEmpty() ? -1 : key.indexOf(delimiter, prefix.length());
            if (key.startsWith(prefix)) {
                shown.add(at < 0 ? key : key.substring(0, at + 1));
            }
        }
        return List.copyOf(shown);
    }

    /** The maximum number of requests for a listing of this many names. */
    static int mostRequests(int names, int pageSize, int concurrency) {
        int pages = Math.max(1, (names + pageSize - 1) / pageSize);
        return pages == 1 ? 1 : pages + pages / 8 + 3 * concurrency + 8;
    }
}

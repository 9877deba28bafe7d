package io.penstock.listing;

import static io.penstock.listing.RangeListing.bucketOf;
import static io.penstock.listing.RangeListing.lister;
import static io.penstock.listing.RangeListing.mostRequests;
import static io.penstock.listing.RangeListing.names;
import static io.penstock.listing.RangeListing.putAll;
import static io.penstock.listing.RangeListing.shown;
import static io.penstock.listing.RangeListing.start;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.listing.RangeListing.Collected;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ForwardingObjectStore;
import io.penstock.objectstore.KeyOrder;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.DelayingObjectStore;
import io.penstock.testing.Fault;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.Gate;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.KeySets;
import io.penstock.testing.ManualClock;
import io.penstock.testing.RecordingObjectStore;
import io.penstock.testing.Seeded;
import io.penstock.testing.SmallPages;
import io.penstock.testing.SparseObjectStore;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every key is listed exactly once, for any keys, splits, order of responses and store. */
@Timeout(120)
class RangeListerTest {
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final RandomGenerator random = Seeded.random(1);

    @AfterEach
    void close() {
        threads.close();
    }

    @Test
    void list_anyKeysInAnyOrderOfAnswers_hasEachOnceInOrder() {
        Seeded.check(200, random -> {
            KeySets set = KeySets.any(random);
            NavigableSet<String> keys = set.keys(random.nextInt(600), random);
            String delimiter = random.nextInt(3) == 0 ? "/" : "";
            String prefix =
                    random.nextInt(3) > 0 || keys.isEmpty() ? "" : keys.first().substring(0, 1);
            int pageSize = random.nextInt(1, 40);
            int concurrency = random.nextInt(1, 33);
            List<String> expected = shown(keys, prefix, delimiter);

            LockStep steps = new LockStep();
            RangeLister<Collected> lister =
                    lister(new SmallPages(bucketOf(keys), pageSize), prefix, delimiter, concurrency, steps);
            CompletableFuture<List<String>> listing = start(lister);
            steps.inAnyOrder(listing, random, () -> {});

            assertThat(listing.get()).as(set.name()).isEqualTo(expected);
            assertThat(lister.listed()).isEqualTo(expected.size());
            assertThat(lister.requests()).isLessThanOrEqualTo(mostRequests(expected.size(), pageSize, concurrency));
        });
    }

    @Test
    void list_keysAppearAndVanish_hasThoseThatStayOnce() {
        Seeded.check(80, random -> {
            KeySets set = KeySets.any(random);
            List<String> all = new ArrayList<>(set.keys(500, random));
            TreeSet<String> stay = new TreeSet<>(KeyOrder.COMPARATOR);
            all.stream().filter(_ -> random.nextBoolean()).forEach(stay::add);
            InMemoryObjectStore bucket = bucketOf(all);

            LockStep steps = new LockStep();
            CompletableFuture<List<String>> listing =
                    start(lister(new SmallPages(bucket, 10), "", "", random.nextInt(1, 33), steps));
            steps.inAnyOrder(listing, random, () -> {
                for (int i = 0; i < 5; i++) {
                    String key = all.get(random.nextInt(all.size()));
                    if (!stay.contains(key)) {
                        change(bucket, key, random.nextBoolean());
                    }
                }
            });

            assertThat(listing.get()).isSortedAccordingTo(KeyOrder.COMPARATOR).doesNotHaveDuplicates();
            assertThat(listing.get()).containsAll(stay);
            assertThat(all).containsAll(listing.get());
        });
    }

    @Test
    void list_manyThreads_hasEachKeyOnce() {
        Seeded.check(15, random -> {
            NavigableSet<String> keys = KeySets.any(random).keys(2_000, random);
            ObjectStore store = new SmallPages(bucketOf(keys), 20);
            List<Collected> ranges = lister(store, "", "", 32, threads).list();
            assertThat(names(ranges)).containsExactlyElementsOf(keys);
        });
    }

    @Test
    void list_onePage_takesOneRequest() throws Exception {
        RecordingObjectStore store = new RecordingObjectStore(bucketOf(KeySets.NUMBERED.keys(1_000, random)));
        assertThat(names(lister(store, "", "", 32, threads).list())).hasSize(1_000);
        assertThat(store.lists()).hasSize(1);
    }

    @Test
    void list_noKeys_isOneRangeWithoutAny() throws Exception {
        RecordingObjectStore store = new RecordingObjectStore(new InMemoryObjectStore());
        List<Collected> ranges = lister(store, "", "", 32, threads).list();
        assertThat(ranges).hasSize(1);
        assertThat(names(ranges)).isEmpty();
        assertThat(store.lists()).hasSize(1);
    }

    @Test
    void list_emptyPages_areFollowed() {
        Seeded.check(50, random -> {
            NavigableSet<String> keys = KeySets.any(random).keys(300, random);
            ObjectStore store = new SparseObjectStore(new SmallPages(bucketOf(keys), 10));
            LockStep steps = new LockStep();
            CompletableFuture<List<String>> listing = start(lister(store, "", "", 16, steps));
            steps.inAnyOrder(listing, random, () -> {});
            assertThat(listing.get()).containsExactlyElementsOf(keys);
        });
    }

    @Test
    void list_storeWithoutOrder_hasEachKeyOnceOneRequestAtATime() {
        Seeded.check(50, random -> {
            NavigableSet<String> keys = KeySets.any(random).keys(300, random);
            InMemoryObjectStore bucket =
                    new InMemoryObjectStore("bucket", new ManualClock(), InMemoryObjectStore.Order.NONE);
            putAll(bucket, keys);
            ObjectStore store = new SmallPages(new WithoutStartAfter(bucket, true), random.nextInt(1, 20));
            LockStep steps = new LockStep();
            CompletableFuture<List<String>> listing = start(lister(store, "", "", 16, steps));
            steps.inAnyOrder(listing, random, () -> {});
            assertThat(listing.get()).containsExactlyInAnyOrderElementsOf(keys);
        });
    }

    @Test
    void list_storeThatIgnoresStartAfter_hasEachKeyOnce() {
        Seeded.check(50, random -> {
            NavigableSet<String> keys = KeySets.any(random).keys(300, random);
            ObjectStore store = new SmallPages(new WithoutStartAfter(bucketOf(keys), false), 10);
            LockStep steps = new LockStep();
            CompletableFuture<List<String>> listing = start(lister(store, "", "", 16, steps));
            steps.inAnyOrder(listing, random, () -> {});
            assertThat(listing.get()).containsExactlyElementsOf(keys);
        });
    }

    @Test
    void list_storeThatLosesItsOrderLater_restarts() {
        Seeded.check(50, random -> {
            NavigableSet<String> keys = KeySets.any(random).keys(300, random);
            ObjectStore store = new ForwardingObjectStore(new SmallPages(bucketOf(keys), 10)) {
                private int calls;

                @Override
                public ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException {
                    ListPage page = super.list(request);
                    return ++calls < 10
                            ? page
                            : new ListPage(page.objects().reversed(), page.commonPrefixes(), page.nextToken());
                }
            };
            LockStep steps = new LockStep();
            CompletableFuture<List<String>> listing = start(lister(store, "", "", 16, steps));
            steps.inAnyOrder(listing, random, () -> {});
            assertThat(listing.get()).containsExactlyInAnyOrderElementsOf(keys);
        });
    }

    @Test
    void list_throttled_hasEachKeyOnce() {
        Seeded.check(3, random -> {
            NavigableSet<String> keys = KeySets.any(random).keys(1_000, random);
            FaultyObjectStore store = new FaultyObjectStore(new SmallPages(bucketOf(keys), 20));
            store.randomly(random, 0.1, _ -> Fault.fail(ObjectStoreException.Throttled::new));
            assertThat(names(lister(store, "", "", 16, threads).list())).containsExactlyElementsOf(keys);
            assertThat(store.injected()).isPositive();
        });
    }

    @Test
    void list_requestFails_endsTheOthersAndThrowsIt() throws Exception {
        FaultyObjectStore faulty =
                new FaultyObjectStore(new SmallPages(bucketOf(KeySets.UUIDS.keys(2_000, random)), 20));
        DelayingObjectStore store = new DelayingObjectStore(faulty);
        // The ranges are listed; probes for more ranges are held, and never released.
        Gate probes = store.hold(call -> isProbe(call));
        faulty.next(call -> !isProbe(call) && isNth(call, 3), Fault.fail(ObjectStoreException.AccessDenied::new));

        assertThatThrownBy(() -> lister(store, "", "", 16, threads).list())
                .isInstanceOf(ObjectStoreException.AccessDenied.class);

        assertThat(probes.held()).isZero();
    }

    @Test
    void list_interrupted_endsItsRequests() throws Exception {
        DelayingObjectStore store =
                new DelayingObjectStore(new SmallPages(bucketOf(KeySets.UUIDS.keys(2_000, random)), 20));
        Gate gate = store.hold(RangeListerTest::isProbe);
        CompletableFuture<List<Collected>> result = new CompletableFuture<>();
        Thread thread = Thread.ofVirtual().start(() -> {
            try {
                result.complete(lister(store, "", "", 16, threads).list());
            } catch (Exception e) {
                result.completeExceptionally(e);
            }
        });
        gate.awaitHeld(1);
        thread.interrupt();

        assertThatThrownBy(result::get)
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(InterruptedException.class);
        assertThat(gate.held()).isZero();
    }

    @Test
    void list_collectorFails_throwsIt() {
        ObjectStore store = new SmallPages(bucketOf(KeySets.UUIDS.keys(500, random)), 20);
        RangeLister<String> lister =
                new RangeLister<>(store, "", "", 4, threads, () -> 0L, new RangeLister.Collector<String>() {
                    @Override
                    public String begin() {
                        return "";
                    }

                    @Override
                    public void page(String range, ListPage page, long askedAt) {
                        throw new IllegalStateException("full");
                    }
                });
        assertThatThrownBy(lister::list)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("full");
    }

    private static void change(InMemoryObjectStore bucket, String key, boolean there) {
        try {
            if (there) {
                putAll(bucket, List.of(key));
            } else {
                bucket.delete(key);
            }
        } catch (ObjectStoreException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean isProbe(Call call) {
        return call instanceof Call.List(ListRequest request)
                && request.startAfter() != null
                && request.continuationToken() == null;
    }

    private int walked;

    private synchronized boolean isNth(Call call, int n) {
        return call instanceof Call.List && ++walked >= n;
    }

    /** Refuses start-after, or ignores it. */
    private static final class WithoutStartAfter extends ForwardingObjectStore {
        private final boolean refuses;

        WithoutStartAfter(ObjectStore store, boolean refuses) {
            super(store);
            this.refuses = refuses;
        }

        @Override
        public ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException {
            if (refuses && request.startAfter() != null) {
                throw new ObjectStoreException.Refused("no start-after", null);
            }
            return super.list(new ListRequest(
                    request.prefix(), request.delimiter(), null, request.continuationToken(), request.maxKeys()));
        }
    }
}

package io.penstock.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.objectstore.Call;
import io.penstock.objectstore.ForwardingObjectStore;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Listings of large directories, with several pages requested at the same time. */
@Timeout(60)
class DirectoryPagesTest {
    private static final Duration TTL = Duration.ofMinutes(10);
    private static final int PAGE = 10;
    private static final int CONCURRENCY = 8;

    private final ManualClock clock = new ManualClock();
    private final InMemoryObjectStore bucket = new InMemoryObjectStore("bucket", clock, InMemoryObjectStore.Order.UTF8);
    private final DelayingObjectStore delays = new DelayingObjectStore(bucket);
    private final FaultyObjectStore faults = new FaultyObjectStore(delays);
    private final RecordingObjectStore store = new RecordingObjectStore(faults);

    private Tree tree(ObjectStore of) {
        return new Tree(
                new SmallPages(of, PAGE),
                "",
                new MetadataConfig(TTL, TTL, CONCURRENCY, PreloadConfig.OFF),
                clock::nanoTime);
    }

    private List<String> putMany(int count) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            names.add("%05d".formatted(i));
            bucket.put(names.getLast(), "");
        }
        return names;
    }

    @ParameterizedTest
    @EnumSource
    void read_anyKeys_hasEachNameOnce(KeySets set) {
        Seeded.checkOthers("DirectoryPagesTest", 5, random -> {
            NavigableSet<String> keys = set.keys(random.nextInt(1, 1_500), random);
            InMemoryObjectStore of = new InMemoryObjectStore();
            keys.forEach(key -> of.put(key, ""));
            try (Tree several = tree(of);
                    Tree one = new Tree(of, "", new MetadataConfig(TTL, TTL), clock::nanoTime)) {
                assertThat(Listings.names(several.list(several.root())))
                        .as(set.name())
                        .containsExactlyInAnyOrderElementsOf(Listings.names(one.list(one.root())));
            }
        });
    }

    @Test
    void read_upToFourPages_asksForOneAfterAnother() throws Exception {
        putMany(4 * PAGE);
        try (Tree tree = tree(store)) {
            assertThat(Listings.names(tree.list(tree.root()))).hasSize(4 * PAGE);
            assertThat(store.drain()).hasSize(4);
        }
    }

    @Test
    void read_largeDirectory_hasManyRequestsUnderWay() throws Exception {
        List<String> names = putMany(100 * PAGE);
        try (Tree tree = tree(store);
                Gate gate = delays.hold(call -> call instanceof Call.List(ListRequest request)
                        && request.startAfter() != null
                        && request.continuationToken() == null)) {
            Listing listing = tree.list(tree.root());
            assertThat(listing.await(4 * PAGE)).isTrue();

            gate.awaitHeld(4); // the number of concurrent probes of a range about which little is known
            gate.open();

            assertThat(Listings.names(listing)).isEqualTo(names);
        }
    }

    @Test
    void read_abandoned_asksForNoMore() throws Exception {
        int mostListed = 64_000; // half of it for one directory, and a quarter of that for queued entries
        int pages = mostListed / 2 / PAGE - 1;
        List<String> names = putMany(pages * PAGE);
        MetadataConfig config = new MetadataConfig(TTL, TTL, mostListed, CONCURRENCY, PreloadConfig.OFF);
        try (Tree tree = new Tree(new SmallPages(store, PAGE), "", config, clock::nanoTime)) {
            Listing listing = tree.list(tree.root());
            assertThat(listing.await(5 * PAGE)).isTrue();

            assertThat(awaitQuiet()).isLessThan(pages / 2);
            assertThat(Listings.names(listing)).isEqualTo(names);
        }
    }

    @Test
    void read_storeFails_throwsAndTheNextReadGoesOn() throws Exception {
        List<String> names = putMany(5_000 * PAGE);
        try (Tree tree = tree(store)) {
            Listing listing = tree.list(tree.root());
            assertThat(listing.await(5 * PAGE)).isTrue();
            faults.always(Call.List.class::isInstance, Fault.fail(ObjectStoreException.AccessDenied::new));
            assertThatThrownBy(() -> Listings.names(listing)).isInstanceOf(ObjectStoreException.AccessDenied.class);

            faults.heal();

            assertThat(Listings.names(listing)).isEqualTo(names);
        }
    }

    /**
     * Also if the listing fails while queued pages are being read: a page after a gap is not mistaken for the next one.
     */
    @Test
    void read_storeFailsAtAnyTime_throwsOrHasEachName() throws Exception {
        List<String> names = putMany(60 * PAGE);
        for (int round = 0; round < 300; round++) {
            AtomicInteger left = new AtomicInteger(5 + round % 50);
            faults.always(call -> left.getAndDecrement() <= 0, Fault.fail(ObjectStoreException.AccessDenied::new));
            try (Tree tree = tree(store)) {
                assertThat(Listings.names(tree.list(tree.root()))).isEqualTo(names);
            } catch (ObjectStoreException.AccessDenied e) {
                assertThat(left).hasNonPositiveValue();
            }
            faults.heal();
        }
    }

    /** Like a server that supports only continuation tokens. */
    @Test
    void read_storeIgnoresStartAfter_hasEachNameOnce() throws Exception {
        List<String> names = putMany(50 * PAGE);
        ObjectStore withoutStartAfter = new ForwardingObjectStore(store) {
            @Override
            public ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException {
                return super.list(new ListRequest(
                        request.prefix(), request.delimiter(), null, request.continuationToken(), request.maxKeys()));
            }
        };
        try (Tree tree = tree(withoutStartAfter)) {
            assertThat(Listings.names(tree.list(tree.root()))).containsExactlyInAnyOrderElementsOf(names);
        }
    }

    @Test
    void removed_whilePagesAreHeldThatShowIt_staysRemoved() throws Exception {
        List<String> names = putMany(400 * PAGE); // more than a reader is ahead of, less than may be held
        String removed = names.getLast();
        try (Tree tree = tree(store)) {
            Listing listing = tree.list(tree.root());
            assertThat(listing.await(5 * PAGE)).isTrue();
            awaitQuiet();
            assertThat(listing.has(names.size() - 1)).isFalse();
            clock.advance(Duration.ofMillis(1));

            bucket.delete(removed);
            tree.changed(tree.root(), removed, Absent.ABSENT);

            assertThat(Listings.names(listing)).isEqualTo(names.subList(0, names.size() - 1));
            assertThat(tree.lookup(tree.root(), removed)).isEqualTo(Absent.ABSENT);
        }
    }

    /** Waits until no further request is sent, and returns the number of requests so far. */
    private int awaitQuiet() throws InterruptedException {
        int last = -1;
        while (store.lists().size() != last) {
            last = store.lists().size();
            Thread.sleep(100);
        }
        return last;
    }
}

package io.penstock.metadata;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.objectstore.Call;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.DelayingObjectStore;
import io.penstock.testing.Fault;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.Gate;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import io.penstock.testing.RecordingObjectStore;
import io.penstock.testing.SparseObjectStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Listings that are read while their pages arrive. */
@Timeout(60)
class ListingTest {
    private static final int PAGE = ListRequest.MAX_KEYS;

    /** The limit in tests with few entries in memory. */
    private static final int MOST_LISTED = 10 * PAGE;

    private final ManualClock clock = new ManualClock();
    private final InMemoryObjectStore bucket = new InMemoryObjectStore("bucket", clock, InMemoryObjectStore.Order.UTF8);
    private final DelayingObjectStore delays = new DelayingObjectStore(bucket);
    private final FaultyObjectStore faults = new FaultyObjectStore(delays);
    private final RecordingObjectStore store = new RecordingObjectStore(faults);
    private final Tree tree = tree(store);

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void close() {
        tree.close();
        threads.shutdownNow();
    }

    @Test
    void read_2500Entries_costsThreeListsAndShowsEachOnce() throws Exception {
        List<String> names = putMany(2_500);

        assertThat(Listings.names(tree.list(tree.root()))).isEqualTo(names);

        assertThat(store.drain()).hasSize(3);
    }

    @Test
    void read_firstPageThere_doesNotWaitForTheSecond() throws Exception {
        putMany(3 * PAGE);
        try (Gate gate = delays.hold(call -> isLaterPage(call))) {
            Listing listing = tree.list(tree.root());

            assertThat(listing.await(PAGE - 2)).isTrue();
            gate.awaitHeld(1); // the next page is already being fetched
            assertThat(listing.has(PAGE - 1)).isFalse();
            gate.open();
            assertThat(listing.await(PAGE - 1)).isTrue();
        }
    }

    @Test
    void read_abandoned_fetchesNoMoreThanAFewPagesAhead() throws Exception {
        putMany(20 * PAGE);

        Listing listing = tree.list(tree.root());
        listing.await(0);
        quiesce(listing, Listing.AHEAD);

        assertThat(store.drain()).hasSize(2);

        assertThat(Listings.names(listing)).hasSize(20 * PAGE); // it continues where it stopped
        assertThat(store.drain()).hasSize(18);
    }

    @Test
    void read_byManyAtOnce_sharesThePages() throws Exception {
        List<String> names = putMany(5 * PAGE);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<List<String>>> readers = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                readers.add(threads.submit(() -> Listings.names(tree.list(tree.root()))));
            }
            for (Future<List<String>> reader : readers) {
                assertThat(reader.get()).isEqualTo(names);
            }
        }
        assertThat(store.drain()).hasSize(5);
    }

    @Test
    void lookup_ofWhatAListingUnderWayHasShown_costsNothing() throws Exception {
        List<String> names = putMany(10 * PAGE);
        Listing listing = tree.list(tree.root());
        listing.await(0);
        quiesce(listing, Listing.AHEAD);
        store.drain();

        assertThat(tree.lookup(tree.root(), names.getFirst())).isInstanceOf(FileEntry.class);
        assertThat(store.drain()).isEmpty();
        assertThat(tree.lookup(tree.root(), names.getLast())).isInstanceOf(FileEntry.class);
        assertThat(store.drain()).hasSize(2);
    }

    @Test
    void read_pageFails_throwsAndTheNextReadGoesOn() throws Exception {
        List<String> names = putMany(PAGE + 1);
        faults.always(ListingTest::isLaterPage, Fault.fail(ObjectStoreException.Throttled::new));
        Listing listing = tree.list(tree.root());
        assertThat(listing.await(PAGE - 2)).isTrue();

        assertThatThrownBy(() -> listing.await(PAGE)).isInstanceOf(ObjectStoreException.Throttled.class);
        faults.heal();
        assertThat(Listings.names(listing)).isEqualTo(names);
    }

    @Test
    void read_slowerThanTtl_datesEachPageFromItsRequest() throws Exception {
        List<String> names = putMany(4 * PAGE);
        Listing listing = tree.list(tree.root());
        listing.await(0);
        quiesce(listing, Listing.AHEAD);
        clock.advance(Duration.ofSeconds(45));
        Listings.names(listing);
        clock.advance(Duration.ofSeconds(45));
        store.drain();

        tree.lookup(tree.root(), names.getLast());
        assertThat(store.drain()).isEmpty();
        tree.lookup(tree.root(), names.getFirst());
        assertThat(store.drain()).hasSize(2);
    }

    @Test
    void read_unordered_showsEachOnceAndTheDirectoryWins() throws Exception {
        InMemoryObjectStore express = new InMemoryObjectStore("b--x-s3", clock, InMemoryObjectStore.Order.NONE);
        for (int i = 0; i < 2 * PAGE; i++) {
            express.put("d%04d".formatted(i), "");
            express.put("d%04d/x".formatted(i), "");
        }
        try (Tree unordered = tree(express)) {
            Listing listing = unordered.list(unordered.root());
            List<Listing.Entry> entries = Listings.entries(listing);
            assertThat(entries)
                    .extracting(Listing.Entry::name)
                    .doesNotHaveDuplicates()
                    .hasSize(2 * PAGE);
            assertThat(Listings.entries(listing))
                    .extracting(Listing.Entry::node)
                    .hasOnlyElementsOfType(Directory.class);
        }
    }

    @Test
    void read_emptyPagesWithToken_areFollowed() throws Exception {
        List<String> names = putMany(10);
        try (Tree sparse = tree(new SparseObjectStore(bucket))) {
            assertThat(Listings.names(sparse.list(sparse.root()))).isEqualTo(names);
            assertThat(sparse.lookup(sparse.root(), "nothing")).isEqualTo(Absent.ABSENT);
            assertThat(sparse.lookup(sparse.root(), "00007")).isInstanceOf(FileEntry.class);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void lookup_answeredAfterALaterListing_leavesWhatThatSays(boolean deleted) throws Exception {
        List<String> names = putMany(deleted ? 3 : 2);
        try (Gate question = holdAnswerAbout("00002")) {
            Future<Answer> asked = ask("00002");
            question.awaitHeld(1);
            Answer now = change("00002", deleted);
            Listing listing = tree.list(tree.root());
            Listings.names(listing);
            question.open();
            asked.get();

            assertThat(Listings.names(listing))
                    .isEqualTo(deleted ? names.subList(0, 2) : List.of("00000", "00001", "00002"));
            assertThat(tree.lookupNow(tree.root(), "00002")).isEqualTo(now);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void lookup_answeredDuringALaterPage_leavesWhatThatSays(boolean deleted) throws Exception {
        List<String> names = putMany(deleted ? 3 : 2);
        try (Gate question = holdAnswerAbout("00002");
                Gate page = delays.hold(call -> call.equals(new Call.List(ListRequest.of("", "/"))))) {
            Future<Answer> asked = ask("00002");
            question.awaitHeld(1);
            Answer now = change("00002", deleted);
            Listing listing = tree.list(tree.root());
            Future<List<String>> listed = threads.submit(() -> Listings.names(listing));
            page.awaitHeld(1);
            question.open();
            asked.get();
            page.open();

            assertThat(listed.get()).isEqualTo(deleted ? names.subList(0, 2) : List.of("00000", "00001", "00002"));
            assertThat(tree.lookupNow(tree.root(), "00002")).isEqualTo(now);
        }
    }

    /** A page's last object is not an entry until the next page shows that it is not a directory. */
    @ParameterizedTest
    @ValueSource(ints = {2 * PAGE + 500, 3 * PAGE - 1})
    void lookup_duringAListingBeforeItsPage_leavesWhatThePageShows(int index) throws Exception {
        List<String> names = putMany(4 * PAGE);
        String name = names.get(index);
        bucket.delete(name);
        Listing listing = tree.list(tree.root());
        listing.await(0);
        quiesce(listing, Listing.AHEAD);
        clock.advance(Duration.ofSeconds(1));
        try (Gate question = holdAnswerAbout(name);
                Gate page = delays.hold(ListingTest::isLaterPage)) {
            Future<Answer> asked = ask(name);
            question.awaitHeld(1);
            change(name, false);
            Future<Boolean> third = threads.submit(() -> listing.await(2 * PAGE));
            page.awaitHeld(1);
            try (Gate last = delays.hold(ListingTest::isLaterPage)) {
                page.open();
                third.get();
                last.awaitHeld(1);
                question.open();
                asked.get();
            }

            assertThat(Listings.names(listing)).isEqualTo(names);
        }
    }

    /** A page of the bucket's listing may be older than the reader's listing. */
    @Test
    void correct_whileAnOlderPageIsOnItsWay_isNotUndone() throws Exception {
        ListPage before =
                new ListPage(List.of(Listings.file(bucket.put("a", "1")).object()), List.of(), null);
        long listedAt = clock.nanoTime();
        clock.advance(Duration.ofSeconds(1));
        LookupCache.Dated now = new LookupCache.Dated(Listings.file(bucket.put("a", "22")), clock.nanoTime());
        clock.advance(Duration.ofSeconds(1));
        AtomicReference<@Nullable Listing> itself = new AtomicReference<>();
        Listing listing = new Listing(
                tree.root(),
                _ -> {
                    requireNonNull(itself.get()).correct("a", now);
                    return new Listing.DatedPage(before, null, listedAt);
                },
                new HiddenKeys("bucket"),
                threads,
                clock::nanoTime,
                new EmptiedDirectories(() -> 0, _ -> false),
                (_, _) -> {},
                MOST_LISTED);
        itself.set(listing);

        assertThat(Listings.entries(listing)).extracting(Listing.Entry::node).containsExactly((Node) now.answer());
    }

    @Test
    void read_ofMoreThanIsKept_showsEachOnceAndHoldsNoMore() throws Exception {
        List<String> names = putMany(20 * PAGE);
        try (Tree small = small()) {
            Listing listing = small.list(small.root());
            List<String> seen = new ArrayList<>();
            for (int i = 0; listing.await(i); i++) {
                seen.add(requireNonNull(listing.get(i)).name());
                assertThat(listing.held()).isLessThanOrEqualTo(MOST_LISTED / 2);
            }

            assertThat(seen).isEqualTo(names);
            assertThat(store.drain()).hasSize(20);
            assertThat(listing.get(0)).isNull();
            assertThat(listing.hasDropped(0)).isTrue();
            assertThat(small.list(small.root())).isNotSameAs(listing);
        }
    }

    @Test
    void lookup_ofWhatAListingHasDropped_asksTheStore() throws Exception {
        List<String> names = putMany(20 * PAGE);
        try (Tree small = small()) {
            Listings.names(small.list(small.root()));
            store.drain();

            assertThat(small.lookup(small.root(), names.getLast())).isInstanceOf(FileEntry.class);
            assertThat(store.drain()).isEmpty();
            assertThat(small.lookup(small.root(), names.getFirst())).isInstanceOf(FileEntry.class);
            assertThat(small.lookup(small.root(), "00000-absent")).isEqualTo(Absent.ABSENT);
            assertThat(store.drain()).hasSize(4);
        }
    }

    @Test
    void lookup_ofManyThatAListingHasDropped_leavesItToWhoReadsIt() throws Exception {
        List<String> names = putMany(20 * PAGE);
        try (Tree small = small()) {
            Listings.names(small.list(small.root()));
            for (String name : names.subList(0, 2 * Tree.ASKED_BEFORE_LISTING)) {
                small.lookup(small.root(), name);
            }
            store.drain();

            assertThat(small.lookup(small.root(), names.getLast())).isInstanceOf(FileEntry.class);
            assertThat(store.drain()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void lookup_ofWhatAListingUnderWayHasDropped_isNotListedTwice(boolean deleted) throws Exception {
        List<String> names = putMany(20 * PAGE);
        try (Tree small = small()) {
            Listing listing = small.list(small.root());
            assertThat(listing.await(10 * PAGE)).isTrue();
            clock.advance(Duration.ofSeconds(1));
            if (deleted) {
                bucket.delete(names.getFirst());
            }

            small.lookup(small.root(), names.getFirst());

            List<String> rest = new ArrayList<>();
            for (int i = 10 * PAGE; listing.await(i); i++) {
                rest.add(requireNonNull(listing.get(i)).name());
            }
            assertThat(rest).isEqualTo(names.subList(10 * PAGE, names.size()));
        }
    }

    private Tree small() {
        Duration ttl = Duration.ofSeconds(60);
        return new Tree(store, "", new MetadataConfig(ttl, ttl, MOST_LISTED), clock::nanoTime);
    }

    private Gate holdAnswerAbout(String name) {
        return delays.holdAnswer(call -> call.equals(new Call.Head(name)));
    }

    private Future<Answer> ask(String name) {
        return threads.submit(() -> tree.lookup(tree.root(), name));
    }

    /** Changes the object as another node, and advances the clock a little. */
    private Answer change(String name, boolean delete) throws Exception {
        Answer answer = Absent.ABSENT;
        if (delete) {
            bucket.delete(name);
        } else {
            answer = Listings.file(bucket.put(name, ""));
        }
        clock.advance(Duration.ofNanos(1));
        return answer;
    }

    private static boolean isLaterPage(Call call) {
        return call instanceof Call.List(ListRequest request) && request.continuationToken() != null;
    }

    /** Waits until this many entries have arrived that no reader requested. */
    private static void quiesce(Listing listing, int entries) throws InterruptedException {
        while (!listing.has(entries - 1)) {
            Thread.sleep(1);
        }
    }

    @Test
    void changed_moreNamesThanAListingHolds_areNotHeld() throws Exception {
        bucket.put("a", "");
        try (Tree small = small()) {
            Listing listing = small.list(small.root());
            assertThat(Listings.names(listing)).containsExactly("a");

            for (int i = 0; i < MOST_LISTED; i++) {
                small.changed(small.root(), "temporary" + i, new Directory("temporary" + i + "/"));
                small.changed(small.root(), "temporary" + i, Absent.ABSENT);
            }

            assertThat(listing.held()).isLessThanOrEqualTo(MOST_LISTED / 2 + 1);
            assertThat(Listings.names(small.list(small.root()))).containsExactly("a");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {PAGE, 900, 600})
    void changed_moreNamesThanAllListingsHold_areNotHeld(int names) throws Exception {
        List<Directory> directories = new ArrayList<>();
        try (Tree small = small()) {
            for (int i = 0; i < 20; i++) {
                bucket.put(i + "/a", "");
                directories.add(new Directory(i + "/"));
                assertThat(Listings.names(small.list(directories.getLast()))).hasSize(1);
            }

            for (int i = 0; i < names; i++) {
                for (Directory each : directories) {
                    small.changed(each, "new" + i, each.child("new" + i));
                }
            }

            int held = 0;
            for (Directory each : directories) {
                Listing listing = small.listNow(each);
                held += listing == null ? 0 : listing.held();
            }
            assertThat(held).isLessThanOrEqualTo(MOST_LISTED);
        }
    }

    private Tree tree(ObjectStore of) {
        return new Tree(of, "", new MetadataConfig(Duration.ofSeconds(60), Duration.ofSeconds(60)), clock::nanoTime);
    }

    private List<String> putMany(int count) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            names.add("%05d".formatted(i));
            bucket.put(names.getLast(), "");
        }
        return names;
    }
}

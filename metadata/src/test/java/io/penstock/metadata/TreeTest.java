package io.penstock.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.DelayingObjectStore;
import io.penstock.testing.Fault;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.Gate;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import io.penstock.testing.RecordingObjectStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The requests that the tree sends to the store, one by one, and how long their results stay valid. */
@Timeout(60)
class TreeTest {
    private static final Duration TTL = Duration.ofSeconds(60);
    private static final Duration NEGATIVE_TTL = Duration.ofSeconds(5);
    private static final Duration INSTANT = Duration.ofNanos(1);

    private final ManualClock clock = new ManualClock();
    private final InMemoryObjectStore bucket = new InMemoryObjectStore("bucket", clock, InMemoryObjectStore.Order.UTF8);
    private final DelayingObjectStore delays = new DelayingObjectStore(bucket);
    private final FaultyObjectStore faults = new FaultyObjectStore(delays);
    private final RecordingObjectStore store = new RecordingObjectStore(faults);
    private final Tree tree = new Tree(store, "", new MetadataConfig(TTL, NEGATIVE_TTL), clock::nanoTime);
    private final Directory root = tree.root();

    @AfterEach
    void close() {
        tree.close();
    }

    @Test
    void lookup_coldFile_costsOneHeadAndOneList() throws Exception {
        ObjectVersion version = bucket.put("a/b.txt", "hello");

        assertThat(tree.lookup(new Directory("a/"), "b.txt")).isEqualTo(file(version));

        assertThat(store.drain()).containsExactlyInAnyOrderElementsOf(probe("a/b.txt"));
    }

    @Test
    void lookup_coldFile_hasOneDeadlineForBoth() throws Exception {
        tree.lookup(root, "a");
        assertThat(store.calls()).hasSize(2);
        assertThat(store.deadlines()).hasSize(1);
    }

    @Test
    void lookup_coldDirectory_costsOneHeadAndOneList() throws Exception {
        bucket.put("a/b/c", "");

        assertThat(tree.lookup(root, "a")).isEqualTo(new Directory("a/"));

        assertThat(store.drain()).containsExactlyInAnyOrderElementsOf(probe("a"));
    }

    @Test
    void lookup_belowMountedPrefix_asksBelowIt() throws Exception {
        ObjectVersion version = bucket.put("data/set/x", "");
        bucket.put("x", "another");
        try (Tree mounted = new Tree(store, "data/set/", new MetadataConfig(TTL, NEGATIVE_TTL), clock::nanoTime)) {
            assertThat(mounted.lookup(mounted.root(), "x")).isEqualTo(file(version));
        }
        assertThat(store.drain()).containsExactlyInAnyOrderElementsOf(probe("data/set/x"));
    }

    @Test
    void lookup_again_costsNothingUntilTtl() throws Exception {
        bucket.put("a", "1");
        tree.lookup(root, "a");
        store.drain();

        clock.advance(TTL.minus(INSTANT));
        tree.lookup(root, "a");
        assertThat(store.drain()).isEmpty();

        ObjectVersion changed = bucket.put("a", "2");
        clock.advance(INSTANT);
        assertThat(tree.lookup(root, "a")).isEqualTo(file(changed));
        assertThat(store.drain()).hasSize(2);
    }

    @Test
    void adjust_aShorterTtl_holdsForWhatIsCachedToo() throws Exception {
        bucket.put("a", "1");
        tree.lookup(root, "a");
        store.drain();
        ObjectVersion changed = bucket.put("a", "2");
        clock.advance(Duration.ofSeconds(2));

        tree.adjust(new MetadataConfig(Duration.ofSeconds(1), NEGATIVE_TTL));

        assertThat(tree.lookup(root, "a")).isEqualTo(file(changed));
        assertThat(store.drain()).hasSize(2);
    }

    @Test
    void adjust_aLongerTtl_holdsForNamesAndListings() throws Exception {
        tree.adjust(new MetadataConfig(TTL.multipliedBy(3), TTL));
        bucket.put("a", "1");
        tree.lookup(root, "a");
        tree.lookup(root, "absent");
        store.drain();

        clock.advance(TTL.minus(INSTANT));
        tree.lookup(root, "absent");
        clock.advance(TTL);
        tree.lookup(root, "a");

        assertThat(store.drain()).isEmpty();
    }

    @Test
    void adjust_noTtl_asksTheStoreEachTime() throws Exception {
        bucket.put("a", "1");
        tree.adjust(new MetadataConfig(Duration.ZERO, Duration.ZERO));

        for (int i = 0; i < 2; i++) {
            tree.lookup(root, "a");
            assertThat(store.drain()).hasSize(2);
        }
    }

    @Test
    void lookup_absentAgain_costsNothingUntilNegativeTtl() throws Exception {
        assertThat(tree.lookup(root, "a")).isEqualTo(Absent.ABSENT);
        store.drain();

        clock.advance(NEGATIVE_TTL.minus(INSTANT));
        assertThat(tree.lookup(root, "a")).isEqualTo(Absent.ABSENT);
        assertThat(store.drain()).isEmpty();

        ObjectVersion version = bucket.put("a", "1");
        clock.advance(INSTANT);
        assertThat(tree.lookup(root, "a")).isEqualTo(file(version));
    }

    @Test
    void lookup_amongManySiblingsThatBeginWithTheName_bringsOneKey() throws Exception {
        for (int i = 0; i <= ListRequest.MAX_KEYS; i++) {
            bucket.put("a-%04d".formatted(i), "");
            bucket.put("b-%04d".formatted(i), "");
        }
        bucket.put("a/b", "");
        ObjectVersion b = bucket.put("b", "");

        assertThat(tree.lookup(root, "a")).isEqualTo(new Directory("a/"));
        assertThat(store.drain()).containsExactlyInAnyOrderElementsOf(probe("a"));
        assertThat(tree.lookup(root, "b")).isEqualTo(file(b));
        assertThat(store.drain()).containsExactlyInAnyOrderElementsOf(probe("b"));
    }

    @Test
    void lookup_byWhoMayListAndNotRead_findsTheName() throws Exception {
        ObjectVersion version = bucket.put("a", "1");
        bucket.put("ab", "1");
        faults.always(Call.Head.class::isInstance, Fault.fail(ObjectStoreException.AccessDenied::new));

        assertThat(tree.lookup(root, "a")).isEqualTo(file(version));
        assertThat(tree.lookup(root, "nothing")).isEqualTo(Absent.ABSENT);
        faults.heal();
    }

    @Test
    void lookup_nameThatNoKeyCanHave_costsNothing() throws Exception {
        for (String name : List.of("", ".", "..", "a/b", "a\0b", "x".repeat(256), "é".repeat(128))) {
            assertThat(tree.lookup(root, name)).isEqualTo(Absent.ABSENT);
        }
        Directory deep = new Directory("d".repeat(200).concat("/").repeat(5));
        assertThat(tree.lookup(deep, "x".repeat(20))).isEqualTo(Absent.ABSENT);
        assertThat(store.drain()).isEmpty();
    }

    @Test
    void lookup_of64AtOnce_isAskedOnce() throws Exception {
        ObjectVersion version = bucket.put("a", "1");
        try (Gate gate = delays.hold(call -> call instanceof Call.List);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Answer>> answers = new ArrayList<>();
            for (int i = 0; i < 64; i++) {
                answers.add(threads.submit(() -> tree.lookup(root, "a")));
            }
            gate.awaitHeld(1);
            gate.open();
            for (Future<Answer> answer : answers) {
                assertThat(answer.get()).isEqualTo(file(version));
            }
        }
        assertThat(store.drain()).hasSize(2);
    }

    @Test
    void lookup_interrupted_leavesAndTheRequestGoesOnForTheOthers() throws Exception {
        bucket.put("a", "1");
        try (Gate gate = delays.hold(call -> call instanceof Call.List);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Answer> impatient = threads.submit(() -> tree.lookup(root, "a"));
            gate.awaitHeld(1);
            Future<Answer> patient = threads.submit(() -> tree.lookup(root, "a"));
            impatient.cancel(true);
            gate.open();
            assertThat(patient.get()).isInstanceOf(FileEntry.class);
        }
        assertThat(store.drain()).hasSize(2);
    }

    @Test
    void lookup_failed_isAskedAgain() throws Exception {
        faults.next(call -> true, Fault.fail(ObjectStoreException.Unavailable::new));

        assertThatThrownBy(() -> tree.lookup(root, "a")).isInstanceOf(ObjectStoreException.Unavailable.class);
        assertThat(tree.lookup(root, "a")).isEqualTo(Absent.ABSENT);
    }

    @Test
    void lookupNow_unknown_isNullAndCostsNothing() throws Exception {
        bucket.put("a", "1");

        assertThat(tree.lookupNow(root, "a")).isNull();
        assertThat(store.drain()).isEmpty();

        tree.lookup(root, "a");
        assertThat(tree.lookupNow(root, "a")).isInstanceOf(FileEntry.class);
    }

    @Test
    void lookup_inListedDirectory_costsNothing() throws Exception {
        putMany("d/", 2_500);
        readAll(tree.list(new Directory("d/")));
        assertThat(store.drain()).hasSize(3);

        for (int i = 0; i < 2_500; i++) {
            assertThat(tree.lookup(new Directory("d/"), "%05d".formatted(i))).isInstanceOf(FileEntry.class);
        }
        assertThat(tree.lookup(new Directory("d/"), "nothing")).isEqualTo(Absent.ABSENT);
        assertThat(store.drain()).isEmpty();
    }

    @Test
    void lookup_absentFromOldListing_isAskedAgainAfterNegativeTtl() throws Exception {
        bucket.put("d/a", "");
        readAll(tree.list(new Directory("d/")));
        store.drain();
        ObjectVersion late = bucket.put("d/b", "");

        clock.advance(NEGATIVE_TTL);

        assertThat(tree.lookup(new Directory("d/"), "b")).isEqualTo(file(late));
        tree.lookup(new Directory("d/"), "a");
        assertThat(store.drain()).hasSize(2);
    }

    @Test
    void lookup_knownBeforeALaterListing_followsTheListing() throws Exception {
        Directory d = new Directory("d/");
        bucket.put("d/a", "");
        bucket.put("d/b", "");
        assertThat(tree.lookup(d, "c")).isEqualTo(Absent.ABSENT);
        tree.lookup(d, "a");
        ObjectVersion c = bucket.put("d/c", "");
        bucket.delete("d/a");
        clock.advance(Duration.ofSeconds(1));
        readAll(tree.list(d));
        store.drain();

        assertThat(tree.lookup(d, "c")).isEqualTo(file(c));
        assertThat(tree.lookup(d, "a")).isEqualTo(Absent.ABSENT);
        assertThat(store.drain()).isEmpty();

        clock.advance(NEGATIVE_TTL); // the listing is too old to prove an absence, and the response before it is older
        assertThat(tree.lookup(d, "a")).isEqualTo(Absent.ABSENT);
        assertThat(store.drain()).hasSize(2);
    }

    @Test
    void list_again_isSharedUntilTtl() throws Exception {
        bucket.put("a", "");
        Listing first = tree.list(root);
        readAll(first);
        store.drain();

        clock.advance(TTL.minus(INSTANT));
        assertThat(tree.list(root)).isSameAs(first);
        bucket.put("b", "");
        clock.advance(INSTANT);
        assertThat(readAll(tree.list(root))).containsExactly("a", "b");
        assertThat(readAll(first)).containsExactly("a");
        assertThat(store.drain()).hasSize(1);
    }

    @Test
    void invalidate_knownVersion_nextLookupAsksAndCorrectsTheListing() throws Exception {
        ObjectVersion old = bucket.put("a", "1");
        bucket.put("b", "");
        readAll(tree.list(root));
        ObjectVersion changed = bucket.put("a", "2");
        store.drain();

        tree.invalidate(root, "a", old);

        assertThat(tree.lookupNow(root, "a")).isNull();
        assertThat(tree.lookup(root, "a")).isEqualTo(file(changed));
        tree.lookup(root, "a");
        tree.lookup(root, "b");
        assertThat(store.drain()).hasSize(2);
        assertThat(tree.list(root).get(0)).extracting(Listing.Entry::node).isEqualTo(file(changed));
    }

    @Test
    void invalidate_deletedObject_leavesTheListing() throws Exception {
        ObjectVersion old = bucket.put("a", "1");
        bucket.put("b", "");
        Listing listing = tree.list(root);
        readAll(listing);
        bucket.delete("a");

        tree.invalidate(root, "a", old);

        assertThat(tree.lookup(root, "a")).isEqualTo(Absent.ABSENT);
        assertThat(readAll(listing)).containsExactly("b");
        assertThat(listing.get(1)).extracting(Listing.Entry::name).isEqualTo("b");
    }

    @Test
    void invalidate_anotherVersionIsKnown_keepsIt() throws Exception {
        ObjectVersion old = bucket.put("a", "1");
        ObjectVersion changed = bucket.put("a", "2");
        tree.lookup(root, "a");
        store.drain();

        tree.invalidate(root, "a", old);

        assertThat(tree.lookup(root, "a")).isEqualTo(file(changed));
        assertThat(store.drain()).isEmpty();
    }

    @Test
    void lookup_zeroTtl_asksEveryTime() throws Exception {
        bucket.put("a", "");
        try (Tree doubting = new Tree(store, "", new MetadataConfig(Duration.ZERO, Duration.ZERO), clock::nanoTime)) {
            doubting.lookup(root, "a");
            doubting.lookup(root, "a");
            assertThat(doubting.list(root)).isNotSameAs(doubting.list(root));
        }
        assertThat(store.drain()).hasSize(4);
    }

    @Test
    void lookup_endlessTtl_staysValid() throws Exception {
        bucket.put("a", "");
        Duration endless = Duration.ofSeconds(Long.MAX_VALUE);
        try (Tree trusting = new Tree(store, "", new MetadataConfig(endless, endless), clock::nanoTime)) {
            readAll(trusting.list(root));
            clock.advance(Duration.ofDays(10_000));
            assertThat(trusting.lookup(root, "a")).isInstanceOf(FileEntry.class);
            assertThat(trusting.lookup(root, "b")).isEqualTo(Absent.ABSENT);
        }
        assertThat(store.drain()).hasSize(1);
    }

    @Test
    void lookup_manyNamesOfOneDirectory_listsItInTheBackground() throws Exception {
        putMany("a/", 2_500);
        Directory directory = new Directory("a/");

        for (int i = 0; i < Tree.ASKED_BEFORE_LISTING; i++) {
            tree.lookup(directory, "%05d".formatted(i));
        }
        while (tree.lookupNow(directory, "02499") == null) {
            Thread.onSpinWait(); // the test's time limit ends it
        }
        for (int i = 0; i < 2_500; i++) {
            assertThat(tree.lookupNow(directory, "%05d".formatted(i))).isInstanceOf(FileEntry.class);
        }

        List<Call.List> lists = store.lists();
        assertThat(lists).hasSize(Tree.ASKED_BEFORE_LISTING + 3);
        assertThat(lists.stream().filter(list -> list.request().prefix().equals("a/")))
                .hasSize(3);
    }

    /** Looks up enough absent names to start a listing of the directory, and waits for it. */
    private void askForManyAbsentNames(Directory directory) throws Exception {
        for (int i = 0; i < Tree.ASKED_BEFORE_LISTING; i++) {
            assertThat(tree.lookup(directory, "absent" + i)).isEqualTo(Absent.ABSENT);
        }
        while (tree.lookupNow(directory, "new") == null) {
            Thread.onSpinWait(); // the test's time limit ends it
        }
        store.drain();
    }

    @Test
    void lookup_manyAbsentNames_areValidWhileTheDirectoryIsRelisted() throws Exception {
        putMany("a/", 2_500);
        Directory directory = new Directory("a/");
        askForManyAbsentNames(directory);
        ObjectVersion theirs = bucket.put("a/theirs", "");
        clock.advance(NEGATIVE_TTL);

        try (Gate gate = delays.hold(call -> call instanceof Call.List)) {
            assertThat(tree.lookupNow(directory, "new")).isEqualTo(Absent.ABSENT);
            gate.awaitHeld(1);
            assertThat(tree.lookupNow(directory, "theirs")).isEqualTo(Absent.ABSENT);
            assertThat(tree.lookupNow(directory, "00042")).isInstanceOf(FileEntry.class);
            ObjectVersion mine = bucket.put("a/00000-mine", "");
            tree.changed(directory, "00000-mine", file(mine));
            tree.invalidate(directory, "00043");
            assertThat(tree.lookupNow(directory, "00000-mine")).isEqualTo(file(mine));
            assertThat(tree.lookupNow(directory, "00043")).isNull();
        }
        while (!file(theirs).equals(tree.lookupNow(directory, "theirs"))) {
            Thread.onSpinWait(); // the test's time limit ends it
        }

        assertThat(tree.lookupNow(directory, "00000-mine")).isInstanceOf(FileEntry.class);
        assertThat(store.lists()).allMatch(list -> list.request().prefix().equals("a/"));
    }

    @Test
    void lookup_manyAbsentNamesPastTheTtl_areNotRequestedSinglyAgain() throws Exception {
        putMany("a/", 10);
        Directory directory = new Directory("a/");
        askForManyAbsentNames(directory);
        for (Duration passed = Duration.ZERO; passed.compareTo(TTL) <= 0; passed = passed.plus(NEGATIVE_TTL)) {
            clock.advance(NEGATIVE_TTL);
            String theirs = "theirs" + passed.toSeconds();
            bucket.put("a/" + theirs, "");
            assertThat(tree.lookup(directory, "new")).isEqualTo(Absent.ABSENT);
            while (!(tree.lookupNow(directory, theirs) instanceof FileEntry)) {
                Thread.onSpinWait(); // the test's time limit ends it
            }
        }
        assertThat(store.lists()).allMatch(list -> list.request().prefix().equals("a/"));
    }

    @Test
    void lookup_absentForTwiceTheNegativeTtl_isAskedForAgain() throws Exception {
        putMany("a/", 10);
        Directory directory = new Directory("a/");
        askForManyAbsentNames(directory);
        clock.advance(NEGATIVE_TTL);
        try (Gate gate = delays.hold(call ->
                call instanceof Call.List list && list.request().prefix().equals("a/"))) {
            assertThat(tree.lookupNow(directory, "new")).isEqualTo(Absent.ABSENT);
            gate.awaitHeld(1);
            ObjectVersion theirs = bucket.put("a/theirs", "");
            clock.advance(NEGATIVE_TTL);

            assertThat(tree.lookupNow(directory, "theirs")).isNull();
            assertThat(tree.lookup(directory, "theirs")).isEqualTo(file(theirs));
        }
    }

    @Test
    void lookup_fewAbsentNames_areAskedForAgainAfterNegativeTtl() throws Exception {
        putMany("a/", 10);
        Directory directory = new Directory("a/");
        readAll(tree.list(directory));
        clock.advance(NEGATIVE_TTL);

        assertThat(tree.lookupNow(directory, "new")).isNull();
    }

    @Test
    void lookup_fewNamesOfOneDirectory_listsNothing() throws Exception {
        putMany("a/", 100);

        for (int i = 0; i < Tree.ASKED_BEFORE_LISTING - 1; i++) {
            tree.lookup(new Directory("a/"), "%05d".formatted(i));
        }

        assertThat(store.lists()).noneMatch(list -> list.request().prefix().equals("a/"));
    }

    @Test
    void lookup_inADirectoryThatWasMadeHere_listsItInTheBackground() throws Exception {
        Directory directory = new Directory("a/");
        tree.made(directory);
        tree.lookup(directory, "first");
        while (tree.lookupNow(directory, "second") == null) {
            Thread.onSpinWait(); // the test's time limit ends it
        }

        assertThat(store.lists().stream().filter(list -> list.request().prefix().equals("a/")))
                .hasSize(1);
    }

    @Test
    void lookup_onDirectoryBucket_findsFileAndDirectory() throws Exception {
        InMemoryObjectStore express =
                new InMemoryObjectStore("fast--use1-az4--x-s3", clock, InMemoryObjectStore.Order.NONE);
        ObjectVersion version = express.put("d/a", "");
        try (Tree unordered = new Tree(express, "", new MetadataConfig(TTL, NEGATIVE_TTL), clock::nanoTime)) {
            assertThat(unordered.lookup(new Directory("d/"), "a")).isEqualTo(file(version));
            assertThat(unordered.lookup(root, "d")).isEqualTo(new Directory("d/"));
            assertThat(unordered.lookup(root, "nothing")).isEqualTo(Absent.ABSENT);
        }
    }

    @Test
    void config_negativeDuration_isRefused() {
        assertThatThrownBy(() -> new MetadataConfig(Duration.ofSeconds(-1), TTL))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("metadata.ttl");
    }

    /** The requests of one lookup of a name, in any order. */
    private static List<Call> probe(String key) {
        return List.of(new Call.Head(key), new Call.List(new ListRequest(key + "/", "", null, null, 1)));
    }

    private void putMany(String prefix, int count) {
        for (int i = 0; i < count; i++) {
            bucket.put("%s%05d".formatted(prefix, i), "");
        }
    }

    private Answer file(ObjectVersion version) throws Exception {
        return Listings.file(version);
    }

    private static List<String> readAll(Listing listing) throws Exception {
        return Listings.names(listing);
    }
}

package io.penstock.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ForwardingObjectStore;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import io.penstock.testing.RecordingObjectStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A change of this mount is visible immediately, regardless of what is cached, in flight, or in the store. */
@Timeout(60)
class OwnChangesTest {
    private static final Duration TTL = Duration.ofSeconds(60);

    private final ManualClock clock = new ManualClock();
    private final InMemoryObjectStore bucket = new InMemoryObjectStore("bucket", clock, InMemoryObjectStore.Order.UTF8);
    private final LateAnswers late = new LateAnswers(bucket);
    private final RecordingObjectStore store = new RecordingObjectStore(late);
    private final Tree tree = new Tree(store, "", new MetadataConfig(TTL, TTL), clock::nanoTime);
    private final Directory root = tree.root();

    private record Live(long size) implements LiveFile {
        @Override
        public Instant modified() {
            return Instant.EPOCH;
        }

        @Override
        public int links() {
            return 1;
        }
    }

    /** Once armed, gets a page of a listing and holds it until the test releases it. */
    private static final class LateAnswers extends ForwardingObjectStore {
        final CountDownLatch made = new CountDownLatch(1);
        final CountDownLatch letGo = new CountDownLatch(1);
        volatile boolean armed;

        LateAnswers(ObjectStore store) {
            super(store);
        }

        @Override
        public ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException {
            ListPage page = super.list(request);
            if (armed) {
                made.countDown();
                letGo.await();
            }
            return page;
        }
    }

    @AfterEach
    void close() {
        tree.close();
    }

    @Test
    void show_anyName_holdsWhateverIsKnown() throws Exception {
        ObjectVersion version = bucket.put("a", "1");
        Live written = new Live(5);
        tree.lookup(root, "a");

        tree.overlay(root, "a", written);
        tree.overlay(root, "new", written);

        assertThat(tree.lookup(root, "a")).isSameAs(written);
        assertThat(tree.lookupNow(root, "new")).isSameAs(written);
        assertThat(tree.overlaid(root)).containsOnlyKeys("a", "new");
        tree.uncover(root, "a", new Live(6));
        assertThat(tree.lookup(root, "a")).as("shown still").isSameAs(written);
        tree.uncover(root, "a", written);
        tree.uncover(root, "new", written);
        assertThat(tree.lookup(root, "a")).isEqualTo(Listings.file(version));
        assertThat(tree.lookup(root, "new")).isEqualTo(Absent.ABSENT);
        assertThat(tree.overlaid(root)).isEmpty();
    }

    @Test
    void changed_known_showsAtOnceInAnswersAndListings() throws Exception {
        ObjectVersion a = bucket.put("a", "1");
        bucket.put("b", "1");
        names();

        bucket.delete("a");
        tree.changed(root, "a", Absent.ABSENT);
        ObjectVersion c = bucket.put("c", "1");
        tree.changed(root, "c", Listings.file(c));

        store.drain();
        assertThat(tree.lookup(root, "a")).isEqualTo(Absent.ABSENT);
        assertThat(tree.lookup(root, "c")).isEqualTo(Listings.file(c));
        assertThat(names()).containsExactly("b", "c");
        assertThat(store.drain()).isEmpty();
        assertThat(a.key()).isEqualTo("a");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void changed_listingInFlight_doesNotBringBackWhatWasBefore(boolean deleted) throws Exception {
        if (deleted) {
            bucket.put("a", "1");
        }
        bucket.put("b", "1");
        late.armed = true;
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<List<String>> listed = threads.submit(this::names);
            late.made.await();
            Answer answer = change(deleted);
            late.letGo.countDown();

            assertThat(listed.get()).containsExactlyInAnyOrderElementsOf(deleted ? List.of("b") : List.of("a", "b"));
            assertThat(tree.lookupNow(root, "a")).isEqualTo(answer);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void changed_answerInFlight_doesNotBringBackWhatWasBefore(boolean deleted) throws Exception {
        if (deleted) {
            bucket.put("a", "1");
        }
        late.armed = true;
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Answer> asked = threads.submit(() -> tree.lookup(root, "a"));
            late.made.await();
            Answer answer = change(deleted);
            late.letGo.countDown();
            asked.get();

            assertThat(tree.lookupNow(root, "a")).isEqualTo(answer);
        }
    }

    private Answer change(boolean deleted) throws Exception {
        Answer answer = Absent.ABSENT;
        if (deleted) {
            bucket.delete("a");
        } else {
            answer = Listings.file(bucket.put("a", "1"));
        }
        tree.changed(root, "a", answer);
        return answer;
    }

    @Test
    void keep_lastFileGone_staysWithItsParents() throws Exception {
        bucket.put("d/e/f", "1");
        Directory d = new Directory("d/");
        Directory e = new Directory("d/e/");
        assertThat(tree.lookup(d, "e")).isEqualTo(e);

        tree.keep(e);
        bucket.delete("d/e/f");
        tree.changed(e, "f", Absent.ABSENT);
        clock.advance(TTL);

        assertThat(tree.lookup(root, "d")).isEqualTo(d);
        assertThat(tree.lookup(d, "e")).isEqualTo(e);
        assertThat(tree.isEmpty(e)).isTrue();
        assertThat(tree.isEmpty(d)).isFalse();
        tree.letGo(e);
        assertThat(tree.lookup(d, "e")).isEqualTo(Absent.ABSENT);
        assertThat(tree.lookup(root, "d")).isEqualTo(d);
    }

    private final Directory emptied = new Directory("d/");

    private void empty() throws Exception {
        bucket.put("d/x", "1");
        assertThat(tree.lookup(root, "d")).isEqualTo(emptied);
        tree.keep(emptied);
        bucket.delete("d/x");
        tree.changed(emptied, "x", Absent.ABSENT);
    }

    @Test
    void keep_listedWithinTtl_isInTheListing() throws Exception {
        empty();

        assertThat(Listings.names(tree.list(root))).containsExactly("d");
        clock.advance(TTL.minusNanos(1));
        assertThat(tree.lookup(root, "d")).isEqualTo(emptied);
    }

    @Test
    void keep_listedLater_isWhatTheStoreHas() throws Exception {
        empty();
        clock.advance(TTL);
        assertThat(tree.lookup(root, "d")).as("nobody has listed it").isEqualTo(emptied);

        assertThat(Listings.names(tree.list(root))).isEmpty();

        assertThat(tree.lookup(root, "d")).isEqualTo(Absent.ABSENT);
        clock.advance(TTL);
        assertThat(tree.lookup(root, "d")).isEqualTo(Absent.ABSENT);
    }

    @Test
    void keep_madeAFileBySomebodyElse_isThatFile() throws Exception {
        empty();
        ObjectVersion file = bucket.put("d", "theirs");
        clock.advance(TTL);

        assertThat(tree.lookup(root, "d")).isEqualTo(Listings.file(file));
    }

    @Test
    void keep_removedBySomebodyElseAfterTheStoreHadIt_isGone() throws Exception {
        empty();
        bucket.put("d/y", "theirs");
        clock.advance(TTL);
        assertThat(tree.lookup(root, "d")).isEqualTo(emptied);
        bucket.delete("d/y");
        clock.advance(TTL);

        assertThat(tree.lookup(root, "d")).isEqualTo(Absent.ABSENT);
    }

    @Test
    void keep_directoriesThatStay_leavesTheirListingsAsTheyAre() throws Exception {
        bucket.put("d/x", "1");
        bucket.put("d/y", "1");
        Listing listing = tree.list(root);
        assertThat(Listings.names(listing)).containsExactly("d");
        String generation = listing.generation();

        tree.keep(emptied);
        bucket.delete("d/x");
        tree.changed(emptied, "x", Absent.ABSENT);

        assertThat(tree.list(root).generation()).isEqualTo(generation);
        assertThat(tree.overlaid(root)).isEmpty();
    }

    @Test
    void moved_whateverWasKnown_isKnownUnderTheNewNameOnly() throws Exception {
        bucket.put("d/x", "1");
        bucket.put("d/sub/y", "1");
        Directory d = new Directory("d/");
        Directory sub = new Directory("d/sub/");
        Directory e = new Directory("e/");
        assertThat(Listings.names(tree.list(root))).containsExactly("d");
        assertThat(Listings.names(tree.list(sub))).containsExactly("y");
        assertThat(tree.lookup(d, "x")).isInstanceOf(FileEntry.class);
        assertThat(tree.lookup(e, "x")).isEqualTo(Absent.ABSENT);
        tree.keep(new Directory("d/emptied/"));
        for (String key : List.of("x", "sub/y")) {
            bucket.put("e/" + key, "1");
            bucket.delete("d/" + key);
        }

        tree.forgetAll(e);
        tree.moved(d, e);

        assertThat(tree.lookup(root, "d")).isEqualTo(Absent.ABSENT);
        assertThat(tree.lookup(root, "e")).isEqualTo(e);
        assertThat(tree.lookup(d, "x")).isEqualTo(Absent.ABSENT);
        assertThat(tree.lookup(e, "x")).isInstanceOf(FileEntry.class);
        assertThat(tree.lookup(e, "emptied")).isEqualTo(new Directory("e/emptied/"));
        assertThat(Listings.names(tree.list(root))).containsExactly("e");
        assertThat(Listings.names(tree.list(new Directory("e/sub/")))).containsExactly("y");
        assertThat(Listings.names(tree.list(sub))).isEmpty();
    }

    @Test
    void isEmpty_hiddenKeysOnly_isFalseAndSaysSo() throws Exception {
        bucket.put("d//x", "");
        long before = tree.hiddenKeys();

        assertThat(tree.isEmpty(emptied)).isFalse();

        assertThat(tree.hiddenKeys()).isEqualTo(before + 1);
    }

    @Test
    void isEmpty_anyDirectory_countsAllButItsMarker() throws Exception {
        bucket.put("marked/", "");
        bucket.put("full/", "");
        bucket.put("full/a", "");

        assertThat(tree.isEmpty(new Directory("marked/"))).isTrue();
        assertThat(tree.isEmpty(new Directory("full/"))).isFalse();
        assertThat(tree.isEmpty(new Directory("none/"))).isTrue();
        tree.overlay(new Directory("none/"), "gone", Absent.ABSENT);
        assertThat(tree.isEmpty(new Directory("none/"))).isTrue();
        tree.overlay(new Directory("none/"), "new", new Live(0));
        assertThat(tree.isEmpty(new Directory("none/"))).isFalse();
    }

    private List<String> names() throws Exception {
        List<String> names = new ArrayList<>();
        Listing listing = tree.list(root);
        for (int i = 0; listing.await(i); i++) {
            Listing.Entry entry = listing.get(i);
            if (entry != null) {
                names.add(entry.name());
            }
        }
        return names;
    }
}

package io.penstock.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.metadata.PreloadConfig.Mode;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.DelayingObjectStore;
import io.penstock.testing.Fault;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.Gate;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import io.penstock.testing.RecordingObjectStore;
import io.penstock.testing.Seeded;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A tree that preloads the whole bucket gives the same results as a tree that looks up each name. */
@Timeout(60)
class PreloadTest {
    private static final long MEMORY = 1 << 20;
    private static final Duration TTL = Duration.ofMinutes(10);
    private static final String[] NAMES = {"a", "a-", "a.txt", "b", "b0", "dir", "é", "😀", "\uFF5E", "..", ""};

    private final ManualClock clock = new ManualClock();
    private final InMemoryObjectStore bucket = new InMemoryObjectStore("bucket", clock, InMemoryObjectStore.Order.UTF8);
    private final DelayingObjectStore delays = new DelayingObjectStore(bucket);
    private final FaultyObjectStore faults = new FaultyObjectStore(delays);
    private final RecordingObjectStore store = new RecordingObjectStore(faults);

    private Tree tree(ObjectStore of, String prefix) {
        return new Tree(
                of,
                prefix,
                new MetadataConfig(TTL, TTL, 4, new PreloadConfig(Mode.ON, null, MEMORY, null)),
                clock::nanoTime);
    }

    private static boolean isPreloaded(Tree tree) {
        return tree.preloaded() instanceof PreloadState.Known;
    }

    private static void preload(Tree tree) throws InterruptedException {
        tree.preload();
        awaitPreloaded(tree);
    }

    private static void awaitPreloaded(Tree tree) throws InterruptedException {
        while (!isPreloaded(tree)) {
            Thread.sleep(1);
        }
    }

    /** The pages of a listing of the whole bucket are produced, but do not arrive. */
    private Gate holdWholeListing() {
        return delays.holdAnswer(call -> call instanceof Call.List(ListRequest request)
                && request.delimiter().isEmpty()
                && request.prefix().isEmpty());
    }

    @Test
    void anyName_afterAPreload_costsNoRequest() throws Exception {
        ObjectVersion file = bucket.put("data/set/file", "1");
        for (int i = 0; i < 2_500; i++) {
            bucket.put("data/many/%04d".formatted(i), "1");
        }
        try (Tree tree = tree(store, "data/")) {
            preload(tree);
            store.drain();
            Directory set = new Directory("data/set/");

            assertThat(tree.lookupNow(tree.root(), "set")).isEqualTo(set);
            assertThat(tree.lookup(set, "file")).isInstanceOf(FileEntry.class);
            assertThat(((FileEntry) tree.lookup(set, "file")).object().version())
                    .isEqualTo(file);
            assertThat(tree.lookup(set, "missing")).isEqualTo(Absent.ABSENT);
            assertThat(Listings.names(tree.list(tree.root()))).containsExactly("many", "set");
            assertThat(Listings.names(tree.list(new Directory("data/many/")))).hasSize(2_500);
            assertThat(store.drain()).isEmpty();
        }
    }

    /** As at the end of a mount whose uploads continue. */
    @Test
    void endPreload_whileItLists_endsThatAndNamesAreAskedForOneByOne() throws Exception {
        bucket.put("dir/file", "1");
        try (Tree tree = tree(store, "");
                Gate gate = delays.hold(Call.List.class::isInstance)) {
            tree.preload();
            gate.awaitHeld(1);

            tree.endPreload();

            while (tree.preloaded() instanceof PreloadState.Listing) {
                Thread.sleep(1);
            }
            gate.open();
            assertThat(isPreloaded(tree)).isFalse();
            assertThat(tree.lookup(new Directory("dir/"), "file")).isInstanceOf(FileEntry.class);
        }
    }

    @Test
    void anyName_oncePreloadIsTooOld_isRequestedAgain() throws Exception {
        bucket.put("dir/file", "1");
        try (Tree tree = tree(store, "")) {
            preload(tree);
            bucket.put("dir/other", "1");
            Directory dir = new Directory("dir/");
            assertThat(Listings.names(tree.list(dir))).containsExactly("file");

            clock.advance(TTL);

            assertThat(isPreloaded(tree)).isFalse();
            assertThat(tree.lookup(dir, "other")).isInstanceOf(FileEntry.class);
            assertThat(Listings.names(tree.list(dir))).containsExactly("file", "other");
        }
    }

    @Test
    void moved_ontoADirectoryWithAChangedName_showsAllPresentNames() throws Exception {
        bucket.put("from/file", "1");
        bucket.put("to/removed", "1");
        Directory from = new Directory("from/");
        Directory to = new Directory("to/");
        try (Tree tree = tree(store, "")) {
            preload(tree);
            bucket.delete("to/removed");
            tree.changed(to, "removed", Absent.ABSENT);
            bucket.put("to/file", "1");
            bucket.delete("from/file");

            tree.forgetAll(to);
            tree.moved(from, to);

            assertThat(tree.lookup(to, "file")).isInstanceOf(FileEntry.class);
            assertThat(Listings.names(tree.list(to))).containsExactly("file");
        }
    }

    @Test
    void change_whilePagesOfAPreloadAreOnTheirWay_isNotUndone() throws Exception {
        bucket.put("dir/removed", "1");
        bucket.put("dir/stays", "1");
        try (Tree tree = tree(store, "");
                Gate gate = delays.holdAnswer(Call.List.class::isInstance)) {
            tree.preload();
            gate.awaitHeld(1);
            Directory made = new Directory("new/deep/");
            bucket.delete("dir/removed");
            tree.changed(new Directory("dir/"), "removed", Absent.ABSENT);
            ObjectVersion version = bucket.put("new/deep/file", "1");
            tree.changed(made, "file", Listings.file(version));
            gate.open();
            awaitPreloaded(tree);

            clock.advance(TTL.dividedBy(2));
            tree.invalidate(made, "file"); // as if the cache had evicted that response
            tree.invalidate(new Directory("dir/"), "removed");

            assertThat(tree.lookup(new Directory("dir/"), "removed")).isEqualTo(Absent.ABSENT);
            assertThat(tree.lookup(made, "file")).isEqualTo(Listings.file(version));
            assertThat(tree.lookup(tree.root(), "new")).isEqualTo(new Directory("new/"));
            assertThat(Listings.names(tree.list(tree.root()))).containsExactly("dir", "new");
            assertThat(Listings.names(tree.list(new Directory("dir/")))).containsExactly("stays");
        }
    }

    @Test
    void preload_storeRefusesToList_leavesTheTreeAsItIsWithout() throws Exception {
        bucket.put("dir/file", "1");
        faults.always(
                call -> call instanceof Call.List(ListRequest request)
                        && request.prefix().isEmpty(),
                Fault.fail(ObjectStoreException.AccessDenied::new));
        try (Tree tree = tree(store, "")) {
            tree.preload();
            while (store.lists().isEmpty() || tree.preloaded() instanceof PreloadState.Listing) {
                Thread.sleep(1);
            }

            assertThat(tree.lookup(new Directory("dir/"), "file")).isInstanceOf(FileEntry.class);
            assertThat(isPreloaded(tree)).isFalse();
        }
    }

    @Test
    void preload_ofABucketWithoutOrder_leavesTheTreeAsItIsWithout() throws Exception {
        InMemoryObjectStore express = new InMemoryObjectStore("bucket", clock, InMemoryObjectStore.Order.NONE);
        for (int i = 0; i < 50; i++) {
            express.put("d" + i % 7 + "/file" + i, "1");
        }
        try (Tree tree = tree(express, "")) {
            tree.preload();

            assertThat(Listings.names(tree.list(tree.root()))).hasSize(7);
            assertThat(tree.lookup(new Directory("d3/"), "file3")).isInstanceOf(FileEntry.class);
        }
    }

    @Test
    void preload_onceRefreshHasPassed_isRepeatedAndReportsChanges() throws Exception {
        bucket.put("dir/same", "1");
        bucket.put("dir/changes", "1");
        bucket.put("dir/goes", "1");
        bucket.put("goes/too/file", "1");
        List<String> news = new ArrayList<>();
        PreloadConfig often = new PreloadConfig(Mode.ON, Duration.ofMillis(20), MEMORY, null);
        try (Tree tree = new Tree(store, "", new MetadataConfig(TTL, TTL, 4, often), clock::nanoTime)) {
            preload(tree);
            tree.setListener((directory, name, answer) -> {
                synchronized (news) {
                    news.add(directory.key(name) + " " + answer.getClass().getSimpleName());
                }
            });
            bucket.put("dir/changes", "22");
            bucket.delete("dir/goes");
            bucket.delete("goes/too/file");
            bucket.put("new/file", "1");

            while (tree.lookupNow(tree.root(), "new") == null || tree.lookupNow(tree.root(), "new") == Absent.ABSENT) {
                Thread.sleep(1);
            }
            assertThat(tree.lookupNow(new Directory("dir/"), "goes")).isEqualTo(Absent.ABSENT);
            synchronized (news) {
                while (news.size() < 7) {
                    news.wait(1);
                }
                assertThat(news)
                        .containsExactlyInAnyOrder(
                                "dir/changes FileEntry",
                                "dir/goes Absent",
                                "goes/too/file Absent",
                                "goes/too Absent",
                                "goes Absent",
                                "new/file FileEntry",
                                "new Directory");
            }
        }
    }

    @Test
    void preload_withRefresh_isValidBeyondTheTtl() throws Exception {
        bucket.put("dir/file", "1");
        PreloadConfig seldom = new PreloadConfig(Mode.ON, TTL.multipliedBy(10), MEMORY, null);
        try (Tree tree = new Tree(store, "", new MetadataConfig(TTL, TTL, 4, seldom), clock::nanoTime)) {
            preload(tree);
            store.drain();
            clock.advance(TTL.multipliedBy(2));

            assertThat(tree.lookup(new Directory("dir/"), "file")).isInstanceOf(FileEntry.class);
            assertThat(Listings.names(tree.list(tree.root()))).containsExactly("dir");
            assertThat(store.drain()).isEmpty();

            clock.advance(TTL.multipliedBy(20)); // and no listing has arrived
            assertThat(isPreloaded(tree)).isFalse();
        }
    }

    @Test
    void auto_manyDirectoriesAreListed_listsAll() throws Exception {
        for (int i = 0; i < 2 * Preloader.WORTH_IT; i++) {
            bucket.put("d%03d/file".formatted(i), "1");
        }
        PreloadConfig auto = new PreloadConfig(Mode.AUTO, null, MEMORY, null);
        try (Tree tree = new Tree(store, "", new MetadataConfig(TTL, TTL, 4, auto), clock::nanoTime)) {
            tree.preload();
            for (int i = 0; i < Preloader.WORTH_IT - 1; i++) {
                Listings.names(tree.list(new Directory("d%03d/".formatted(i))));
            }
            assertThat(store.lists())
                    .allMatch(list -> list.request().delimiter().equals("/"));

            Listings.names(tree.list(tree.root()));
            awaitPreloaded(tree);
            store.drain();

            for (int i = Preloader.WORTH_IT; i < 2 * Preloader.WORTH_IT; i++) {
                assertThat(Listings.names(tree.list(new Directory("d%03d/".formatted(i)))))
                        .containsExactly("file");
            }
            assertThat(store.drain()).isEmpty();
        }
    }

    @Test
    void preload_ofMoreThanItsMemory_leavesTheTreeAsItIsWithout() throws Exception {
        for (int i = 0; i < 30_000; i++) {
            bucket.put("dir/%s".formatted(i), "1");
        }
        PreloadConfig small = new PreloadConfig(Mode.ON, null, 1_000, null);
        try (Tree tree = new Tree(store, "", new MetadataConfig(TTL, TTL, 4, small), clock::nanoTime)) {
            tree.preload();
            while (tree.preloaded() == PreloadState.None.NONE && store.lists().isEmpty()) {
                Thread.sleep(1);
            }
            while (tree.preloaded() instanceof PreloadState.Listing) {
                Thread.sleep(1);
            }
            assertThat(isPreloaded(tree)).isFalse();
            assertThat(tree.lookup(new Directory("dir/"), "29999")).isInstanceOf(FileEntry.class);
        }
    }

    @Test
    void preload_somePrefixesAreRefused_knowsTheOthers() throws Exception {
        bucket.put("a", "1");
        bucket.put("mine/deep/file", "1");
        bucket.put("n", "1");
        bucket.put("theirs/deep/file", "1");
        bucket.put("z", "1");
        faults.always(
                call -> call instanceof Call.List(ListRequest request)
                        && (request.prefix().startsWith("theirs/")
                                || (request.prefix().isEmpty()
                                        && request.delimiter().isEmpty())),
                Fault.fail(ObjectStoreException.AccessDenied::new));
        try (Tree tree = tree(store, "")) {
            preload(tree);
            store.drain();

            assertThat(tree.lookup(new Directory("mine/deep/"), "file")).isInstanceOf(FileEntry.class);
            assertThat(Listings.names(tree.list(new Directory("mine/")))).containsExactly("deep");
            assertThat(tree.lookup(tree.root(), "n")).isInstanceOf(FileEntry.class);
            assertThat(store.drain()).isEmpty();
            assertThat(Listings.names(tree.list(tree.root())))
                    .containsExactlyInAnyOrder("a", "mine", "n", "theirs", "z");
            assertThat(store.drain()).hasSize(1);
            faults.heal();
            assertThat(tree.lookup(new Directory("theirs/deep/"), "file")).isInstanceOf(FileEntry.class);
        }
    }

    @Test
    void index_whileMounted_isValidUntilFoundOtherwise() throws Exception {
        ObjectVersion listed = bucket.put("dir/file", "1");
        bucket.put("dir/other", "1");
        List<StoredObject> objects =
                List.of(stored(bucket.put("z", "1")), stored(listed), stored(bucket.put("a", "1")));
        PreloadConfig off = new PreloadConfig(Mode.OFF, null, MEMORY, null);
        try (Tree tree = new Tree(store, "", new MetadataConfig(TTL, TTL, 4, off), clock::nanoTime)) {
            tree.index(index(objects));
            preload(tree);
            clock.advance(TTL.multipliedBy(1_000));
            Directory dir = new Directory("dir/");

            assertThat(tree.lookup(dir, "file")).isEqualTo(Listings.file(listed));
            assertThat(Listings.names(tree.list(dir))).containsExactly("file");
            assertThat(tree.lookup(dir, "other")).isEqualTo(Absent.ABSENT);
            assertThat(store.drain()).isEmpty();

            tree.invalidate(dir, "other"); // as after a reported change
            assertThat(tree.lookup(dir, "other")).isInstanceOf(FileEntry.class);
            clock.advance(TTL);
            assertThat(Listings.names(tree.list(dir))).containsExactly("file", "other");
        }
    }

    /** As by commits of files left by a crash, which begin before the mount does. */
    @Test
    void index_ofWhatWasChangedHereBeforeItIsRead_doesNotUndoThat() throws Exception {
        List<StoredObject> objects =
                List.of(stored(bucket.put("dir/changed", "1")), stored(bucket.put("dir/same", "1")));
        PreloadConfig off = new PreloadConfig(Mode.OFF, null, MEMORY, null);
        Directory dir = new Directory("dir/");
        try (Tree tree = new Tree(store, "", new MetadataConfig(TTL, TTL, 4, off), clock::nanoTime)) {
            tree.index(index(objects));
            ObjectVersion changed = bucket.put("dir/changed", "22");
            tree.changed(dir, "changed", Listings.file(changed));
            ObjectVersion made = bucket.put("dir/made", "1");
            tree.changed(dir, "made", Listings.file(made));

            preload(tree);
            clock.advance(TTL.multipliedBy(2));

            assertThat(tree.lookup(dir, "changed")).isEqualTo(Listings.file(changed));
            assertThat(tree.lookup(dir, "made")).isEqualTo(Listings.file(made));
            assertThat(Listings.names(tree.list(dir))).containsExactly("changed", "made", "same");
        }
    }

    @Test
    void index_cannotBeRead_isAskedForNothing() throws Exception {
        bucket.put("dir/file", "1");
        try (Tree tree = tree(store, "")) {
            tree.index(new ObjectIndex() {
                @Override
                public Instant asOf() {
                    return Instant.EPOCH;
                }

                @Override
                public void read(Receiver receiver) throws IOException, InterruptedException {
                    receiver.receive(stored(bucket.put("dir/only", "1")));
                    throw new IOException("row 2 is damaged");
                }
            });
            preload(tree);
            assertThat(tree.lookup(new Directory("dir/"), "file")).isInstanceOf(FileEntry.class);
        }
    }

    private static ObjectIndex index(List<StoredObject> objects) {
        return new ObjectIndex() {
            @Override
            public Instant asOf() {
                return Instant.EPOCH;
            }

            @Override
            public void read(Receiver receiver) throws InterruptedException {
                for (StoredObject object : objects) {
                    receiver.receive(object);
                }
            }
        };
    }

    private static StoredObject stored(ObjectVersion version) {
        return new StoredObject(version, "STANDARD");
    }

    private Tree kept(Path file) {
        PreloadConfig config =
                new PreloadConfig(Mode.ON, TTL.multipliedBy(2), MEMORY, new PreloadConfig.Kept(file, "here/bucket/"));
        return new Tree(store, "", new MetadataConfig(TTL, TTL, 4, config), clock::nanoTime);
    }

    private static void awaitFile(Path file) throws InterruptedException {
        while (!Files.exists(file)) {
            Thread.sleep(1);
        }
    }

    @Test
    void remount_namesWereKept_knowsThemWithoutARequest(@TempDir Path folder) throws Exception {
        bucket.put("dir/file", "1");
        Path file = folder.resolve("names");
        try (Tree first = kept(file)) {
            preload(first);
            awaitFile(file);
        }
        store.drain();
        try (Tree second = kept(file);
                Gate gate = delays.hold(Call.List.class::isInstance)) {
            second.preload();
            while (second.lookupNow(second.root(), "dir") == null) {
                Thread.sleep(1);
            }
            assertThat(second.lookup(new Directory("dir/"), "file")).isInstanceOf(FileEntry.class);
            assertThat(second.lookup(new Directory("dir/"), "other")).isEqualTo(Absent.ABSENT);
            assertThat(Listings.names(second.list(second.root()))).containsExactly("dir");

            gate.awaitHeld(1); // it is listed again, in the background
            bucket.put("new", "1");
            gate.open();
            clock.advance(TTL); // the listing of the folder is valid until now
            while (!(second.lookup(second.root(), "new") instanceof FileEntry)) {
                Thread.sleep(1);
            }
        }
    }

    @Test
    void changing_whatWasKept_isDeletedFirst(@TempDir Path folder) throws Exception {
        bucket.put("dir/file", "1");
        Path file = folder.resolve("names");
        try (Tree first = kept(file)) {
            preload(first);
            awaitFile(file);
            first.beginChange();

            assertThat(file).doesNotExist();
        }
    }

    @Test
    void remount_keptNamesAreDamaged_listsThem(@TempDir Path folder) throws Exception {
        bucket.put("dir/file", "1");
        Path file = folder.resolve("names");
        Files.writeString(file, "rubbish");
        try (Tree tree = kept(file)) {
            preload(tree);

            assertThat(tree.lookup(new Directory("dir/"), "file")).isInstanceOf(FileEntry.class);
        }
    }

    @Test
    void mount_withoutRefresh_deletesWhatWasKept(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("names"), "out of date soon");
        PreloadConfig config = new PreloadConfig(Mode.OFF, null, MEMORY, new PreloadConfig.Kept(file, "here/bucket/"));
        try (Tree tree = new Tree(store, "", new MetadataConfig(TTL, TTL, 4, config), clock::nanoTime)) {
            tree.preload();

            assertThat(file).doesNotExist();
        }
    }

    @Test
    void auto_directoriesChangedHereAreListed_doesNotListAllAgain() throws Exception {
        for (int i = 0; i < 6 * Preloader.WORTH_IT; i++) {
            bucket.put("d%03d/f".formatted(i), "1");
        }
        PreloadConfig auto = new PreloadConfig(Mode.AUTO, null, MEMORY, null);
        try (Tree tree = new Tree(store, "", new MetadataConfig(TTL, TTL, 4, auto), clock::nanoTime)) {
            tree.preload();
            for (int i = 0; i < Preloader.WORTH_IT; i++) {
                Listings.names(tree.list(new Directory("d%03d/".formatted(i))));
            }
            awaitPreloaded(tree);
            store.drain();
            for (int i = Preloader.WORTH_IT; i < 6 * Preloader.WORTH_IT; i++) {
                Directory directory = new Directory("d%03d/".formatted(i));
                tree.changed(directory, "new", Listings.file(bucket.put(directory.key("new"), "1")));
                Listings.names(tree.list(directory));
            }
            assertThat(tree.preloaded()).isInstanceOf(PreloadState.Known.class);
            assertThat(store.lists())
                    .isNotEmpty()
                    .allMatch(list -> list.request().delimiter().equals("/"));
        }
    }

    @Test
    void answer_duringTheFirstListing_isNotUndone() throws Exception {
        bucket.put("dir/gone", "1");
        bucket.put("dir/stays", "1");
        Duration negative = Duration.ofSeconds(5);
        PreloadConfig on = new PreloadConfig(Mode.ON, null, MEMORY, null);
        try (Tree tree = new Tree(store, "", new MetadataConfig(TTL, negative, 4, on), clock::nanoTime);
                Gate gate = holdWholeListing()) {
            tree.preload();
            gate.awaitHeld(1);
            clock.advance(Duration.ofSeconds(1));
            bucket.delete("dir/gone"); // by another node
            assertThat(tree.lookup(new Directory("dir/"), "gone")).isEqualTo(Absent.ABSENT);
            gate.open();
            awaitPreloaded(tree);
            clock.advance(negative.multipliedBy(2));

            assertThat(tree.lookup(new Directory("dir/"), "gone")).isEqualTo(Absent.ABSENT);
            assertThat(Listings.names(tree.list(new Directory("dir/")))).containsExactly("stays");
        }
    }

    @Test
    void listed_whileAListingIsUnderWay_isNotUndone() throws Exception {
        bucket.put("changed/gone", "1");
        bucket.put("changed/stays", "1");
        bucket.put("same/file", "1");
        for (int i = 0; i <= ListRequest.MAX_KEYS; i++) {
            bucket.put("large/%04d".formatted(i), "1");
        }
        Directory changed = new Directory("changed/");
        Directory same = new Directory("same/");
        Directory large = new Directory("large/");
        PreloadConfig seldom = new PreloadConfig(Mode.ON, Duration.ofHours(10), MEMORY, null);
        try (Tree tree = new Tree(store, "", new MetadataConfig(TTL, TTL, 4, seldom), clock::nanoTime);
                Gate gate = holdWholeListing()) {
            tree.preload();
            gate.awaitHeld(1);
            clock.advance(Duration.ofSeconds(1));
            bucket.put("changed/made", "1"); // by another node
            bucket.delete("changed/gone");
            bucket.put("large/0000-made", "1");
            assertThat(Listings.names(tree.list(changed))).containsExactly("made", "stays");
            assertThat(Listings.names(tree.list(same))).containsExactly("file");
            assertThat(Listings.names(tree.list(large))).contains("0000-made");
            gate.open();
            awaitPreloaded(tree);
            clock.advance(TTL);

            assertThat(tree.lookup(changed, "made")).isInstanceOf(FileEntry.class);
            assertThat(tree.lookup(changed, "gone")).isEqualTo(Absent.ABSENT);
            assertThat(tree.lookup(large, "0000-made")).isInstanceOf(FileEntry.class);
            assertThat(Listings.names(tree.list(changed))).containsExactly("made", "stays");
            store.drain();
            assertThat(Listings.names(tree.list(same))).containsExactly("file");
            assertThat(tree.lookup(same, "other")).isEqualTo(Absent.ABSENT);
            assertThat(store.drain()).isEmpty();
        }
    }

    @Test
    void removed_whileAPageIsMadeOfARefreshedTable_isNotBroughtBack() throws Exception {
        bucket.put("dir/removed", "1");
        bucket.put("dir/stays", "1");
        Directory dir = new Directory("dir/");
        AtomicReference<@Nullable Runnable> meanwhile = new AtomicReference<>();
        LongSupplier time = () -> {
            boolean ofThePage = StackWalker.getInstance()
                    .walk(frames ->
                            frames.anyMatch(frame -> frame.getClassName().endsWith(".FlatListing")
                                    && frame.getMethodName().equals("page")));
            Runnable change = ofThePage ? meanwhile.getAndSet(null) : null;
            if (change != null) {
                change.run();
            }
            clock.advance(Duration.ofNanos(1));
            return clock.nanoTime();
        };
        PreloadConfig seldom = new PreloadConfig(Mode.ON, Duration.ofHours(10), MEMORY, null);
        try (Tree tree = new Tree(store, "", new MetadataConfig(TTL, TTL, 4, seldom), time)) {
            preload(tree);
            meanwhile.set(() -> tree.changed(dir, "removed", Absent.ABSENT));
            bucket.delete("dir/removed");

            assertThat(Listings.names(tree.list(dir))).containsExactly("stays");
            assertThat(tree.lookup(dir, "removed")).isEqualTo(Absent.ABSENT);
        }
    }

    @Test
    void moved_directory_isAnsweredByTheStoreFromThenOn() throws Exception {
        bucket.put("d/x", "1");
        bucket.put("d/sub/y", "1");
        bucket.put("other/z", "1");
        PreloadConfig seldom = new PreloadConfig(Mode.ON, Duration.ofHours(10), MEMORY, null);
        try (Tree tree = new Tree(store, "", new MetadataConfig(TTL, TTL, 4, seldom), clock::nanoTime)) {
            preload(tree);
            bucket.put("e/x", "1");
            bucket.put("e/sub/y", "1");
            bucket.delete("d/x");
            bucket.delete("d/sub/y");

            tree.forgetAll(new Directory("e/"));
            tree.moved(new Directory("d/"), new Directory("e/"));

            assertThat(tree.lookup(new Directory("d/sub/"), "y")).isEqualTo(Absent.ABSENT);
            assertThat(tree.lookup(new Directory("e/sub/"), "y")).isInstanceOf(FileEntry.class);
            assertThat(Listings.names(tree.list(new Directory("e/")))).containsExactlyInAnyOrder("x", "sub");
            assertThat(Listings.names(tree.list(tree.root()))).containsExactlyInAnyOrder("e", "other");
            store.drain();
            assertThat(tree.lookup(new Directory("other/"), "z")).isInstanceOf(FileEntry.class);
            assertThat(store.drain()).isEmpty();
        }
    }

    @Test
    void moved_aThousandDirectories_leavesTheListingOfTheRest() throws Exception {
        bucket.put("other/z", "1");
        bucket.put("now999/sub/x", "1");
        PreloadConfig seldom = new PreloadConfig(Mode.ON, Duration.ofHours(10), MEMORY, null);
        try (Tree tree = new Tree(store, "", new MetadataConfig(TTL, TTL, 4, seldom), clock::nanoTime)) {
            preload(tree);
            for (int i = 0; i < 1_000; i++) {
                tree.moved(new Directory("before" + i + "/"), new Directory("now" + i + "/"));
                tree.forgetAll(new Directory("now" + i + "/"));
            }
            store.drain();

            assertThat(tree.lookup(new Directory("other/"), "z")).isInstanceOf(FileEntry.class);
            assertThat(store.drain()).isEmpty();
            assertThat(tree.lookup(new Directory("now999/sub/"), "x")).isInstanceOf(FileEntry.class);
            assertThat(store.drain()).isNotEmpty();
        }
    }

    /** Both make the same lookups in the same bucket, which other nodes and this mount change. */
    @Test
    void anyQuestion_onRandomKeysAndChanges_hasTheSameAnswer() {
        Seeded.checkOthers("PreloadTest", 100, random -> {
            InMemoryObjectStore keys = new InMemoryObjectStore("bucket", clock, InMemoryObjectStore.Order.UTF8);
            for (int i = random.nextInt(60); i > 0; i--) {
                keys.put(key(random), "1");
            }
            try (Tree preloaded = tree(keys, "")) {
                preload(preloaded);
                for (int i = random.nextInt(10); i > 0; i--) {
                    changeHere(preloaded, keys, key(random), random.nextBoolean());
                }
                try (Tree plain =
                        new Tree(keys, "", new MetadataConfig(Duration.ZERO, Duration.ZERO), clock::nanoTime)) {
                    compare(preloaded, plain, plain.root(), 0);
                }
            }
        });
    }

    private static void changeHere(Tree tree, InMemoryObjectStore keys, String key, boolean put) throws Exception {
        int slash = key.lastIndexOf('/') + 1;
        Directory directory = new Directory(key.substring(0, slash));
        if (put) {
            tree.changed(directory, key.substring(slash), Listings.file(keys.put(key, "22")));
        } else {
            keys.delete(key);
            tree.changed(directory, key.substring(slash), Absent.ABSENT);
        }
        // The key below it hides the file, which is visible once that key is removed.
        tree.invalidate(directory, key.substring(slash));
    }

    private static void compare(Tree preloaded, Tree plain, Directory directory, int depth) throws Exception {
        Map<String, Node> listed = listed(plain, directory);
        assertThat(listed(preloaded, directory)).as(directory.prefix()).isEqualTo(listed);
        for (String name : NAMES) {
            assertThat(preloaded.lookup(directory, name))
                    .as("%s in '%s'", name, directory.prefix())
                    .isEqualTo(plain.lookup(directory, name));
        }
        for (Node node : listed.values()) {
            if (node instanceof Directory child && depth < 5) {
                compare(preloaded, plain, child, depth + 1);
            }
        }
    }

    private static Map<String, Node> listed(Tree tree, Directory directory) throws Exception {
        Map<String, Node> listed = new HashMap<>();
        for (Listing.Entry entry : Listings.entries(tree.list(directory))) {
            assertThat(listed.put(entry.name(), entry.node())).isNull();
        }
        return listed;
    }

    private static String key(RandomGenerator random) {
        List<String> names = new ArrayList<>();
        for (int i = random.nextInt(1, 4); i > 0; i--) {
            names.add(NAMES[random.nextInt(NAMES.length)]);
        }
        String key = String.join("/", names);
        return key.isEmpty() ? "a" : key;
    }
}

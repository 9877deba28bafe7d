package io.penstock.cache;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static io.penstock.cache.TestObject.NAMESPACE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.cache.PageCache.Environment;
import io.penstock.cache.Residency.Place;
import io.penstock.cache.disk.ObjectFiles;
import io.penstock.cache.disk.Pins;
import io.penstock.core.ObjectVersion;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Data that is never evicted. */
@Timeout(180)
final class PinsTest {
    private static final int DISK_PAGES = 48;
    private static final int PAGES_PER_EXTENT = 4;
    private static final long PAST = 1_000_000;
    private static final long SOON = System.currentTimeMillis() + 3_600_000;

    private final TestObject large = new TestObject("pinned/large", 9L * PAGE_SIZE + 1);
    private final List<TestObject> small = IntStream.range(0, 40)
            .mapToObj(i -> new TestObject("pinned/small-" + i, 100_000 + i))
            .toList();

    @TempDir
    Path directory;

    private PageCache open() throws IOException {
        return open(ObjectFiles::in);
    }

    private PageCache open(Environment.FilesFactory files) throws IOException {
        CacheConfig config = new CacheConfig(directory, (long) DISK_PAGES * PAGE_SIZE, 0, 8L * PAGE_SIZE);
        return PageCache.open(config, new Environment(files, System::nanoTime, PAGES_PER_EXTENT));
    }

    private static void pin(PageCache cache, TestObject object, long until) throws IOException {
        assertThat(cache.pins().pin(NAMESPACE, object.version(), until)).isTrue();
    }

    private void pinAndStoreAll(PageCache cache) throws Exception {
        pin(cache, large, Pins.UNTIL_UNPINNED);
        large.store(cache);
        for (TestObject object : small) {
            pin(cache, object, Pins.UNTIL_UNPINNED);
            object.store(cache);
        }
    }

    /** Reads twice the size of the cache, three times, so that everything evictable is evicted. */
    private static void scan(PageCache cache, String name) throws Exception {
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 2 * DISK_PAGES / 8; i++) {
                new TestObject(name + i, 8L * PAGE_SIZE).store(cache);
            }
        }
    }

    private static long onDisk(PageCache cache, TestObject object) {
        return cache.residency(NAMESPACE, object.version()).diskBytes();
    }

    private void assertAllOnDisk(PageCache cache) {
        assertThat(onDisk(cache, large)).isEqualTo(large.size());
        assertThat(small).allSatisfy(object -> assertThat(onDisk(cache, object)).isEqualTo(object.size()));
    }

    @Test
    void pin_beforeItIsStored_staysThroughScansAndRestarts() throws Exception {
        try (PageCache cache = open()) {
            pinAndStoreAll(cache);
            scan(cache, "a");
            assertAllOnDisk(cache);
            assertThat(cache.statistics().diskBytes()).isLessThanOrEqualTo((long) DISK_PAGES * PAGE_SIZE);
        }
        try (PageCache cache = open()) {
            assertThat(cache.pins().isPinned(NAMESPACE, large.version())).isTrue();
            scan(cache, "b");
            assertAllOnDisk(cache);
            assertThat(large.readablePages(cache)).hasSize(large.pages());
        }
    }

    @Test
    void start_onePinOfAPackHasEnded_keepsTheOthersThroughScans() throws Exception {
        try (PageCache cache = open()) {
            for (TestObject object : small) {
                pin(cache, object, object.equals(small.getFirst()) ? PAST : Pins.UNTIL_UNPINNED);
                object.store(cache);
            }
        }
        try (PageCache cache = open()) {
            assertThat(cache.pins().isPinned(NAMESPACE, small.getFirst().version()))
                    .isFalse();
            scan(cache, "a");
            assertThat(small.subList(1, small.size()))
                    .allSatisfy(object -> assertThat(onDisk(cache, object)).isEqualTo(object.size()));
        }
    }

    @Test
    void pin_whatIsStored_staysThroughScans() throws Exception {
        try (PageCache cache = open()) {
            large.store(cache);
            small.getFirst().store(cache);
            pin(cache, large, Pins.UNTIL_UNPINNED);
            pin(cache, small.getFirst(), Pins.UNTIL_UNPINNED);
            scan(cache, "a");
            assertThat(onDisk(cache, large)).isEqualTo(large.size());
            assertThat(onDisk(cache, small.getFirst()))
                    .isEqualTo(small.getFirst().size());
        }
    }

    /** What lies next to a pinned small file cannot be evicted; if all did, nothing new could be stored. */
    @Test
    void pin_oneSmallFileOfEachExtentOfAFullCache_leavesOneToEvict() throws Exception {
        int half = PAGE_SIZE / 2;
        int ofEach = 2 * PAGES_PER_EXTENT;
        List<TestObject> all = IntStream.range(0, 2 * DISK_PAGES)
                .mapToObj(i -> new TestObject("half/" + i, half))
                .toList();
        try (PageCache cache = open()) {
            for (TestObject object : all) {
                object.store(cache);
            }
            assertThat(cache.statistics().diskBytes()).as("nothing is free").isEqualTo((long) DISK_PAGES * PAGE_SIZE);
            List<TestObject> pinned = IntStream.range(0, all.size() / ofEach)
                    .mapToObj(extent -> all.get(extent * ofEach))
                    .toList();
            for (TestObject object : pinned) {
                pin(cache, object, Pins.UNTIL_UNPINNED);
            }

            TestObject next = new TestObject("next", PAGE_SIZE);
            next.store(cache);

            assertThat(onDisk(cache, next)).isEqualTo(PAGE_SIZE);
            assertThat(pinned.stream().filter(object -> onDisk(cache, object) == half))
                    .as("those of all other extents are held")
                    .hasSize(pinned.size() - 1);
        }
    }

    @Test
    void storeAgain_pinnedSmallFiles_lieBesideOthersThatArePinned() throws Exception {
        try (PageCache cache = open()) {
            for (TestObject object : small) {
                object.store(cache);
            }
            List<TestObject> pinned = IntStream.range(0, small.size() / 8)
                    .mapToObj(i -> small.get(8 * i))
                    .toList();
            for (TestObject object : pinned) {
                pin(cache, object, Pins.UNTIL_UNPINNED);
                cache.storeAgain(NAMESPACE, object.version());
                cache.awaitWritten();
            }
            assertThat(pinned)
                    .allSatisfy(
                            object -> assertThat(object.readablePages(cache)).containsExactly(0));
            scan(cache, "a");
            assertThat(small)
                    .allSatisfy(object ->
                            assertThat(onDisk(cache, object)).isEqualTo(pinned.contains(object) ? object.size() : 0));
        }
    }

    @Test
    void storeAgain_theDiskRefusesTheWrite_keepsTheCopy() throws Exception {
        FaultyFiles files = new FaultyFiles();
        TestObject object = small.getFirst();
        try (PageCache cache = open(files::on)) {
            object.store(cache);
            pin(cache, object, Pins.UNTIL_UNPINNED);
            files.set(FaultyFiles.Fault.READ_ONLY);
            cache.storeAgain(NAMESPACE, object.version());
            cache.awaitWritten();
            files.set(FaultyFiles.Fault.NONE);
            assertThat(cache.statistics().diskErrors()).isPositive();
            assertThat(onDisk(cache, object)).isEqualTo(object.size());
        }
        try (PageCache cache = open()) {
            assertThat(object.readablePages(cache)).containsExactly(0);
        }
    }

    @Test
    void storeAgain_notCachedOrLarge_changesNothing() throws Exception {
        try (PageCache cache = open()) {
            large.store(cache);
            cache.storeAgain(NAMESPACE, large.version());
            cache.storeAgain(NAMESPACE, small.getFirst().version());
            cache.storeAgain(NAMESPACE, new TestObject("empty", 0).version());
            assertThat(onDisk(cache, large)).isEqualTo(large.size());
            assertThat(onDisk(cache, small.getFirst())).isZero();
        }
    }

    @Test
    void unpin_whatIsStored_isEvictedByScans() throws Exception {
        try (PageCache cache = open()) {
            pinAndStoreAll(cache);
            assertThat(cache.pins().unpin(NAMESPACE, key -> key.startsWith("pinned/s")))
                    .isEqualTo(small.size());
            assertThat(cache.pins().unpin(NAMESPACE, key -> key.equals("pinned/large")))
                    .isOne();
            assertThat(cache.pins().unpin(NAMESPACE, _ -> true)).isZero();
            assertThat(cache.pins().room().pinned()).isZero();
            scan(cache, "a");
            scan(cache, "b");
            scan(cache, "c");
            assertThat(onDisk(cache, large)).isLessThan(large.size());
            assertThat(small)
                    .anySatisfy(object -> assertThat(onDisk(cache, object)).isZero());
        }
        try (PageCache cache = open()) {
            assertThat(cache.pins().isPinned(NAMESPACE, large.version())).isFalse();
        }
    }

    @Test
    void pin_moreThanFits_isRefusedAndChangesNothing() throws Exception {
        try (PageCache cache = open()) {
            long versions = cache.pins().room().versionsLeft();
            assertThat(versions).isPositive();
            pin(cache, large, Pins.UNTIL_UNPINNED);
            Pins.Room room = cache.pins().room();
            assertThat(room.pinned()).isEqualTo(9L * PAGE_SIZE + 4096);
            assertThat(room.most()).isEqualTo(45L * PAGE_SIZE);
            assertThat(room.versionsLeft()).isEqualTo(versions - 1);
            TestObject other = new TestObject("other", room.left() + 1);
            assertThat(cache.pins().pin(NAMESPACE, other.version(), SOON)).isFalse();
            assertThat(cache.pins().room()).isEqualTo(room);
        }
    }

    @Test
    void room_theDiskLeavesLessThanTheCacheMayHave_saysSo() throws Exception {
        try (PageCache cache = open()) {
            large.store(cache);
            assertThat(cache.pins().room().isDiskShort()).isFalse();
        }
        CacheConfig greedy = new CacheConfig(directory, (long) DISK_PAGES * PAGE_SIZE, 1L << 60, 8L * PAGE_SIZE);
        try (PageCache cache = PageCache.open(greedy, new Environment(ObjectFiles::in, System::nanoTime, 4))) {
            new TestObject("other", PAGE_SIZE).store(cache);
            assertThat(cache.pins().room().isDiskShort()).isTrue();
        }
    }

    @Test
    void pin_anotherVersion_takesThePlaceOfTheFormer() throws Exception {
        try (PageCache cache = open()) {
            pin(cache, large, Pins.UNTIL_UNPINNED);
            ObjectVersion next = new ObjectVersion(large.key(), "\"next\"", PAGE_SIZE, Instant.EPOCH);
            assertThat(cache.pins().pin(NAMESPACE, next, Pins.UNTIL_UNPINNED)).isTrue();
            assertThat(cache.pins().isPinned(NAMESPACE, large.version())).isFalse();
            assertThat(cache.pins().isPinned(NAMESPACE, next)).isTrue();
            assertThat(cache.pins().room().pinned()).isEqualTo(PAGE_SIZE);
        }
    }

    @Test
    void isPinned_itsTimeIsOverAndNobodyHasTakenItOff_isFalse() throws Exception {
        try (PageCache cache = open()) {
            pin(cache, large, PAST);
            pin(cache, small.getFirst(), SOON);
            assertThat(cache.pins().isPinned(NAMESPACE, large.version())).isFalse();
            assertThat(cache.pins().until(NAMESPACE, small.getFirst().version()))
                    .hasValue(SOON);
        }
    }

    @Test
    void pin_theSameVersionWithAnotherEnd_staysPinnedWhereItIsStored() throws Exception {
        TestObject other = small.get(1);
        try (PageCache cache = open()) {
            pin(cache, small.getFirst(), SOON);
            pin(cache, small.getFirst(), SOON + 1);
            small.getFirst().store(cache);
            other.store(cache);
            scan(cache, "a");
            assertThat(onDisk(cache, small.getFirst()))
                    .isEqualTo(small.getFirst().size());
            assertThat(onDisk(cache, other)).as("it lies elsewhere").isZero();
        }
    }

    @Test
    void end_pinsWithAnEnd_takesOffThoseWhoseTimeHasCome() throws Exception {
        try (PageCache cache = open()) {
            pin(cache, large, SOON + 1);
            pin(cache, small.get(0), SOON + 2);
            pin(cache, small.get(1), Pins.UNTIL_UNPINNED);
            cache.pins().end(SOON + 1);
            assertThat(cache.pins().isPinned(NAMESPACE, large.version())).isFalse();
            assertThat(cache.pins().isPinned(NAMESPACE, small.get(0).version())).isTrue();
            cache.pins().end(SOON + 2);
            assertThat(cache.pins().isPinned(NAMESPACE, small.get(0).version())).isFalse();
            assertThat(cache.pins().isPinned(NAMESPACE, small.get(1).version())).isTrue();
        }
    }

    @Test
    void session_inAFullCache_bringsInWhatTakesThePlaceOfOthers() throws Exception {
        try (PageCache cache = open()) {
            scan(cache, "a");
            TestObject wanted = new TestObject("wanted", 30L * PAGE_SIZE);
            try (Pins.Session session = cache.pins().begin()) {
                assertThat(session.add(NAMESPACE, wanted.version())).isTrue();
                assertThat(session.add(NAMESPACE, new TestObject("too-much", 20L * PAGE_SIZE).version()))
                        .isFalse();
                wanted.store(cache);
                assertThat(onDisk(cache, wanted)).isEqualTo(wanted.size());
            }
            assertThat(cache.pins().room().pinned()).isZero();
            new TestObject("one", 8L * PAGE_SIZE).store(cache); // displaces older ones
            assertThat(onDisk(cache, wanted)).isEqualTo(wanted.size());
        }
    }

    /** As it does while it compacts its log. */
    @Test
    void close_whileAnotherThreadPins_doesNotWaitForIt() throws Exception {
        try (PageCache cache = open()) {
            pin(cache, large, Pins.UNTIL_UNPINNED);
            Pins pins = cache.pins();
            synchronized (pins) {
                FutureTask<Boolean> closing = new FutureTask<>(() -> {
                    pins.close();
                    return true;
                });
                Thread.ofPlatform().daemon().start(closing);
                assertThat(closing.get()).isTrue();
            }
            assertThatThrownBy(() -> pin(cache, small.getFirst(), Pins.UNTIL_UNPINNED))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("is closed");
        }
        try (PageCache cache = open()) {
            assertThat(cache.pins().isPinned(NAMESPACE, large.version())).isTrue();
        }
    }

    @Test
    void unpin_ofOneKey_takesOffThatAlone() throws Exception {
        try (PageCache cache = open()) {
            pin(cache, large, Pins.UNTIL_UNPINNED);
            pin(cache, small.getFirst(), Pins.UNTIL_UNPINNED);
            assertThat(cache.pins().unpin(NAMESPACE, large.key())).isTrue();
            assertThat(cache.pins().unpin(NAMESPACE, large.key())).isFalse();
            assertThat(cache.pins().unpin(NAMESPACE + "2", small.getFirst().key()))
                    .isFalse();
            assertThat(cache.pins().keys(NAMESPACE))
                    .containsExactly(small.getFirst().key());
        }
    }

    @Test
    void invalidate_whatIsPinned_freesItsSpace() throws Exception {
        try (PageCache cache = open()) {
            pinAndStoreAll(cache);
            cache.invalidate(NAMESPACE, large.version());
            for (TestObject object : small) {
                cache.invalidate(NAMESPACE, object.version());
            }
            cache.awaitWritten();
            assertThat(cache.statistics().diskBytes()).isZero();
            pinAndStoreAll(cache);
            assertAllOnDisk(cache);
        }
    }

    @Test
    void residency_partsHereAndThere_showsEachRun() throws Exception {
        try (PageCache cache = open();
                CachedObject object = large.open(cache)) {
            large.fill(TestObject.claimed(object, 2, 4), PAGE_SIZE);
            cache.awaitWritten();
            Fill inFlight = TestObject.claimed(object, 5, 6);
            assertThat(cache.residency(NAMESPACE, large.version()).runs())
                    .containsExactly(
                            new Residency.Run(0, 2L * PAGE_SIZE, Place.MISSING),
                            new Residency.Run(2L * PAGE_SIZE, 4L * PAGE_SIZE, Place.MEMORY_AND_DISK),
                            new Residency.Run(4L * PAGE_SIZE, 5L * PAGE_SIZE, Place.MISSING),
                            new Residency.Run(5L * PAGE_SIZE, 6L * PAGE_SIZE, Place.INFLIGHT),
                            new Residency.Run(6L * PAGE_SIZE, large.size(), Place.MISSING));
            inFlight.fail(new IOException("over"));
        }
    }
}

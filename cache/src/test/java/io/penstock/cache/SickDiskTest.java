package io.penstock.cache;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.cache.CachedObject.FromDisk;
import io.penstock.cache.FaultyFiles.Fault;
import io.penstock.cache.PageCache.Environment;
import io.penstock.cache.disk.Extent;
import io.penstock.cache.disk.ObjectFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whatever the disk does, readers get correct bytes or learn that a page is Missing. */
@Timeout(60)
final class SickDiskTest {
    private static final TestObject OBJECT = new TestObject("object", 12L * PAGE_SIZE + 99);

    @TempDir
    Path directory;

    private final AtomicLong now = new AtomicLong();
    private final FaultyFiles files = new FaultyFiles();

    private PageCache open(long diskPages, long memoryPages) throws IOException {
        CacheConfig config = new CacheConfig(directory, diskPages * PAGE_SIZE, 0, memoryPages * PAGE_SIZE);
        return PageCache.open(config, new Environment(files::on, now::get, 4));
    }

    /** Reads the whole object and fetches Missing pages. */
    private static void readAll(PageCache cache, TestObject object) throws Exception {
        try (CachedObject open = object.open(cache)) {
            for (long position = 0; position < object.size(); ) {
                int count = object.readAndCheck(open, position, PAGE_SIZE);
                if (count == CachedObject.MISSING) {
                    Fill fill = open.claim(position / PAGE_SIZE, position / PAGE_SIZE + 1, Urgency.DEMAND);
                    if (fill != null) { // else the disk recovered meanwhile
                        object.fill(fill, PAGE_SIZE);
                    }
                } else {
                    position += count;
                }
            }
        }
    }

    /** Of two threads that find no file, the slower finds one, with pages in it, when it may create it. */
    @Test
    void fill_ofTwoPagesWhoseWritersBothFindNoFile_keepsBoth() throws Exception {
        TestObject first = new TestObject("object 1", PAGE_SIZE);
        TestObject second = new TestObject("object 2", 2L * PAGE_SIZE);
        Path index = directory.resolve("index.log");
        try (PageCache cache = open(64, 32)) {
            first.store(cache);
            cache.awaitWritten();
            long withAPage = 2 * Files.size(index) - Long.BYTES; // the header is there only once
            AtomicInteger finders = new AtomicInteger();
            files.whenMissing(() -> {
                switch (finders.incrementAndGet()) {
                    case 1 -> await(() -> finders.get() > 1);
                    case 2 -> await(() -> Files.size(index) >= withAPage);
                    default -> {} // the first looks again before it creates one
                }
            });
            second.fillAll(cache);
            cache.awaitWritten();
        }
        files.whenMissing(() -> {});
        try (PageCache cache = open(64, 32)) {
            assertThat(second.readablePages(cache)).containsExactly(0, 1);
        }
    }

    private static void await(Callable<Boolean> condition) {
        try {
            while (!condition.call()) {
                Thread.sleep(1);
            }
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void read_withADeadDisk_goesOnFromMemory() throws Exception {
        try (PageCache cache = open(64, 6)) { // three may wait for the disk
            files.set(Fault.DEAD);
            readAll(cache, OBJECT);
            readAll(cache, OBJECT);
            cache.awaitWritten();
            CacheStatistics statistics = cache.statistics();
            assertThat(statistics.diskErrors())
                    .as("it is left alone after a few")
                    .isBetween(3L, 8L);
            assertThat(statistics.unstoredPages()).isEqualTo(statistics.filledPages());
        }
    }

    @Test
    void disk_thatDiesAndComesBack_isUsedAgainWithWhatIsOnIt() throws Exception {
        try (PageCache cache = open(64, 2)) {
            OBJECT.store(cache);
            int before = OBJECT.readablePages(cache).size();
            files.set(Fault.DEAD);
            readAll(cache, OBJECT);
            cache.awaitWritten();
            files.set(Fault.NONE);
            assertThat(OBJECT.readablePages(cache))
                    .as("not asked while it is sick")
                    .hasSizeLessThan(before);
            now.addAndGet(TimeUnit.MINUTES.toNanos(1));
            readAll(cache, OBJECT); // the first page written proves that it works
            cache.awaitWritten();
            readAll(cache, OBJECT);
            assertThat(OBJECT.readablePages(cache)).hasSizeGreaterThanOrEqualTo(before / 2);
            assertThat(cache.statistics().corruptPages()).isZero();
        }
    }

    @Test
    void read_withAReadOnlyDisk_hasWhatIsOnIt() throws Exception {
        try (PageCache cache = open(64, 32)) {
            OBJECT.store(cache);
        }
        try (PageCache cache = open(64, 4)) {
            files.set(Fault.READ_ONLY);
            assertThat(OBJECT.readablePages(cache)).hasSize(OBJECT.pages());
            TestObject other = new TestObject("other", 6L * PAGE_SIZE);
            readAll(cache, other);
            readAll(cache, other);
            cache.awaitWritten();
            assertThat(cache.statistics().unstoredPages()).isPositive();
        }
    }

    @Test
    void write_toAFullDisk_makesRoomAndGoesOn() throws Exception {
        try (PageCache cache = open(64, 32)) {
            OBJECT.store(cache);
            files.set(Fault.FULL);
            readAll(cache, new TestObject("other", 3L * PAGE_SIZE));
            cache.awaitWritten();
            assertThat(cache.statistics().evictedPages()).isPositive();
            files.set(Fault.NONE);
            now.addAndGet(TimeUnit.MINUTES.toNanos(1));
            TestObject third = new TestObject("third", 3L * PAGE_SIZE);
            readAll(cache, third);
            cache.awaitWritten();
            assertThat(third.readablePages(cache)).hasSize(3);
        }
    }

    @Test
    void read_thatFailsAsNobodyForesaw_leavesNoReaderWaiting() throws Exception {
        try (PageCache cache = open(64, 8)) {
            OBJECT.store(cache);
        }
        try (PageCache cache = open(64, 2);
                CachedObject object = OBJECT.open(cache)) {
            files.set(Fault.UNFORESEEN);
            assertThatThrownBy(() -> OBJECT.readAndCheck(object, 0, 4096)).hasMessage("made up");
            assertThat(cache.busyBytes()).isZero();

            files.set(Fault.NONE);
            assertThat(OBJECT.readablePages(cache)).hasSize(OBJECT.pages());
            files.set(Fault.UNFORESEEN); // verified pages are read in another way
            assertThatThrownBy(() -> OBJECT.readAndCheck(object, 0, PAGE_SIZE, true))
                    .hasMessage("made up");

            files.set(Fault.NONE);
            assertThat(OBJECT.readablePages(cache)).hasSize(OBJECT.pages());
        }
    }

    @Test
    void evict_whereNothingCanBeRemoved_countsItAndFreesItLater() throws Exception {
        try (PageCache cache = open(64, 2)) {
            OBJECT.store(cache);
            long before = cache.statistics().diskBytes();
            files.set(Fault.UNREMOVABLE);
            cache.invalidate(TestObject.NAMESPACE, OBJECT.version());
            cache.awaitWritten();
            assertThat(cache.statistics().diskErrors()).isPositive();
            assertThat(cache.statistics().diskBytes()).as("it is still there").isEqualTo(before);

            files.set(Fault.NONE);
            now.addAndGet(TimeUnit.MINUTES.toNanos(1));
            TestObject other = new TestObject("other", 20L * PAGE_SIZE); // enough for another check
            other.store(cache);

            assertThat(cache.statistics().diskBytes()).isEqualTo(other.size());
        }
    }

    @Test
    void store_whereFreeSpaceCouldNotBeTold_countsEachPageLater() throws Exception {
        TestObject object = new TestObject("object", 6L * PAGE_SIZE);
        try (PageCache cache = open(64, 2)) {
            cache.awaitWritten();
            new TestObject("before", 15L * PAGE_SIZE).store(cache); // the next page triggers a check
            long before = cache.statistics().diskBytes();
            files.set(Fault.UNMEASURED);
            object.store(cache);
            assertThat(cache.statistics().diskErrors()).isPositive();

            files.set(Fault.NONE);
            readAll(cache, object);
            cache.awaitWritten();
            object.store(cache);

            assertThat(cache.statistics().diskBytes()).isEqualTo(before + object.size());
        }
    }

    @Test
    void store_freeSpaceUnknown_forgetsObjectsNotInMemory() throws Exception {
        TestObject before = new TestObject("before", 15L * PAGE_SIZE);
        TestObject after = new TestObject("after", 4L * PAGE_SIZE);
        try (PageCache cache = open(64, 2)) {
            cache.awaitWritten();
            before.store(cache); // the next page triggers a check
            files.set(Fault.UNMEASURED);
            new TestObject("object", PAGE_SIZE).store(cache);
            assertThat(cache.statistics().unstoredPages()).isOne();

            files.set(Fault.NONE);
            after.store(cache); // evicts everything older from memory
            cache.invalidate(TestObject.NAMESPACE, before.version());
            cache.invalidate(TestObject.NAMESPACE, after.version());
            cache.awaitWritten();
            assertThat(cache.objects()).isZero();
        }
    }

    @Test
    void fill_withAStalledDisk_doesNotWaitForIt() throws Exception {
        try (PageCache cache = open(64, 8)) {
            files.stall();
            readAll(cache, OBJECT);
            readAll(cache, new TestObject("other", 20L * PAGE_SIZE));
            assertThat(cache.statistics().unstoredPages()).isPositive();
            files.resume();
            cache.awaitWritten();
            assertThat(cache.statistics().diskBytes()).isPositive();
            assertThat(cache.statistics().diskErrors()).isZero();
        }
    }

    @Test
    void claim_stalledDisk_readaheadContinuesAndLaterWaits() throws Exception {
        TestObject later = new TestObject("later", 20L * PAGE_SIZE);
        try (PageCache cache = open(64, 8);
                CachedObject streamed = OBJECT.open(cache);
                CachedObject warmed = later.open(cache)) {
            files.stall();
            for (int page = 0; page < OBJECT.pages(); page++) {
                Fill fill = streamed.claim(page, page + 1L, Urgency.READAHEAD);
                assertThat(fill).as("page %d", page).isNotNull();
                OBJECT.fill(requireNonNull(fill), PAGE_SIZE);
            }
            assertThat(cache.statistics().unstoredPages()).isEqualTo(OBJECT.pages() - 4L);

            int claimed = 0;
            for (Fill fill = warmed.claim(0, 1, Urgency.LATER); fill != null; ) {
                later.fill(fill, PAGE_SIZE);
                claimed++;
                fill = warmed.claim(claimed, claimed + 1L, Urgency.LATER);
            }
            assertThat(claimed).isEqualTo(2);
            assertThat(cache.statistics().unstoredPages()).isEqualTo(OBJECT.pages() - 4L);
            files.resume();
            cache.awaitWritten();
        }
    }

    /** If it were decided for each page, stored pages would be scattered, and each gap would cost a GET later. */
    @Test
    void fill_besideASlowDisk_isStoredOrNotFromItsFirstPageOn() throws Exception {
        TestObject object = new TestObject("object", 32L * PAGE_SIZE);
        try (PageCache cache = open(64, 16);
                CachedObject open = object.open(cache)) {
            files.stall();
            object.fill(TestObject.claimed(open, 0, 7), PAGE_SIZE);
            object.fill(TestObject.claimed(open, 7, 11), PAGE_SIZE);
            assertThat(cache.statistics().unstoredPages())
                    .as("half of the memory waits, and an eighth")
                    .isEqualTo(1);

            Fill tooLate = TestObject.claimed(open, 11, 14);
            long second = object.fillSome(tooLate, 11L * PAGE_SIZE, PAGE_SIZE);
            files.resume();
            cache.awaitWritten();
            second = object.fillSome(tooLate, 11L * PAGE_SIZE + second, PAGE_SIZE);
            assertThat(second).isEqualTo(PAGE_SIZE);
            object.fillSome(tooLate, 13L * PAGE_SIZE, PAGE_SIZE);
            cache.awaitWritten();

            assertThat(cache.statistics().unstoredPages()).isEqualTo(1 + 3);
            assertThat(cache.residency(TestObject.NAMESPACE, object.version()).diskBytes())
                    .isEqualTo(10L * PAGE_SIZE);
        }
    }

    /** A page of more than half a MiB takes a whole slab. */
    @Test
    void claim_largePageAmongSmallOnesOnAStalledDisk_doesNotWait() throws Exception {
        try (PageCache cache = open(64, 8);
                CachedObject large = OBJECT.open(cache)) {
            files.stall();
            List<Fill> small = claimSmall(cache, 8 * 8);
            for (int i = 0; i < small.size(); i++) {
                if (i % 8 == 0) { // one per slab
                    fillSmall(small.get(i), i);
                } else {
                    small.get(i).fail(new IOException("over"));
                }
            }

            Fill fill = large.claim(0, 1, Urgency.READAHEAD);

            assertThat(fill).isNotNull();
            requireNonNull(fill).fail(new IOException("over"));
            files.resume();
            cache.awaitWritten();
            assertThat(cache.busyBytes()).isZero();
        }
    }

    @Test
    void claim_largePageWithASmallOneInEachSlab_givesUpNone() throws Exception {
        try (PageCache cache = open(64, 8);
                CachedObject large = OBJECT.open(cache)) {
            List<Fill> small = claimSmall(cache, 8 * 8);
            for (int i = 0; i < small.size(); i++) {
                if (i % 8 != 0) {
                    fillSmall(small.get(i), i);
                }
            }
            cache.awaitWritten();
            long before = cache.statistics().memoryBytes();

            assertThat(large.claim(0, 1, Urgency.READAHEAD)).isNull();

            assertThat(cache.statistics().memoryBytes()).isEqualTo(before).isEqualTo(8L * PAGE_SIZE);
            small.get(0).fail(new IOException("over"));
            requireNonNull(large.claim(0, 1, Urgency.READAHEAD)).fail(new IOException("over"));
            for (int i = 8; i < small.size(); i += 8) {
                small.get(i).fail(new IOException("over"));
            }
            assertThat(cache.busyBytes()).isZero();
        }
    }

    /** Eight of them fit in a slab. */
    private static TestObject small(int i) {
        return new TestObject("small " + i, 100_000);
    }

    private static List<Fill> claimSmall(PageCache cache, int count) throws InterruptedException {
        List<Fill> fills = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            try (CachedObject object = small(i).open(cache)) {
                fills.add(TestObject.claimed(object, 0, 1));
            }
        }
        return fills;
    }

    private static void fillSmall(Fill fill, int i) {
        small(i).fill(fill, PAGE_SIZE);
    }

    @Test
    void read_ofAFileThatIsMissing_leavesTheOthersInUse() throws Exception {
        TestObject other = new TestObject("other", 3L * PAGE_SIZE);
        try (PageCache cache = open(64, 32)) {
            OBJECT.store(cache);
            Path file = onlyDataFile();
            other.store(cache);
            Files.delete(file);
        }
        try (PageCache cache = open(64, 32)) {
            assertThat(OBJECT.readablePages(cache)).isEmpty();
            assertThat(cache.statistics().diskErrors()).isZero();
            assertThat(other.readablePages(cache)).hasSize(3);
        }
    }

    private Path onlyDataFile() throws IOException {
        try (Stream<Path> all = Files.walk(directory.resolve("objects"))) {
            return all.filter(Files::isRegularFile).toList().getFirst();
        }
    }

    @Test
    void read_byThreadsThatAreInterrupted_keepsTheFileUsable() throws Exception {
        try (PageCache cache = open(64, 2);
                CachedObject object = OBJECT.open(cache)) {
            for (int page = 0; page < OBJECT.pages(); page++) { // one by one, so that each is written
                OBJECT.fill(requireNonNull(object.claim(page, page + 1, Urgency.DEMAND)), PAGE_SIZE);
                cache.awaitWritten();
            }
            for (int round = 0; round < 50; round++) {
                Thread.currentThread().interrupt();
                int count =
                        object.read(5L * PAGE_SIZE + round, ByteBuffer.allocateDirect(4096), null, FromDisk.REQUESTED);
                assertThat(Thread.interrupted())
                        .as("the interrupt is passed on")
                        .isTrue();
                assertThat(count).isEqualTo(4096);
                assertThat(OBJECT.readAndCheck(object, 2L * PAGE_SIZE + round, 4096))
                        .isEqualTo(4096);
            }
            assertThat(cache.statistics().diskErrors()).isZero();
            assertThat(cache.statistics().diskHits()).isEqualTo(100);
        }
    }

    @Test
    void cache_onASmallFileSystem_staysWithinItAndLeavesWhatIsAsked() throws Exception {
        try (Tmpfs mounted = Tmpfs.mount(directory.resolve("small"), "24m")) {
            CacheConfig config = new CacheConfig(mounted.path().resolve("cache"), 1L << 30, 4L << 20, 8L * PAGE_SIZE);
            try (PageCache cache = PageCache.open(config)) {
                for (int i = 0; i < 8; i++) {
                    readAll(cache, new TestObject("object-" + i, 6L * PAGE_SIZE));
                    cache.awaitWritten();
                }
                CacheStatistics statistics = cache.statistics();
                assertThat(statistics.diskBytes()).isBetween(8L * PAGE_SIZE, 24L * PAGE_SIZE);
                assertThat(statistics.evictedPages()).isPositive();
            }
        }
    }

    @Test
    void cache_onAFullFileSystem_readsAllTheSame() throws Exception {
        try (Tmpfs mounted = Tmpfs.mount(directory.resolve("full"), "8m")) {
            CacheConfig config = new CacheConfig(mounted.path().resolve("cache"), 1L << 30, 0, 8L * PAGE_SIZE);
            try (PageCache cache = PageCache.open(config)) {
                Files.write(mounted.path().resolve("other"), new byte[7 << 20]); // another program's
                readAll(cache, OBJECT);
                cache.awaitWritten();
                readAll(cache, OBJECT);
            }
        }
    }

    /** The next index record needs a block, and none is free. */
    @Test
    void fit_diskFilledByOthersWhileIdle_shrinksTheCache() throws Exception {
        try (Tmpfs mounted = Tmpfs.mount(directory.resolve("filled"), "16m")) {
            CacheConfig config = new CacheConfig(mounted.path().resolve("cache"), 1L << 30, 2L << 20, 4L * PAGE_SIZE);
            Environment often = new Environment(
                    ObjectFiles::in, System::nanoTime, 4, Extent.most(), Slab::new, Duration.ofMillis(10));
            try (PageCache cache = PageCache.open(config, often)) {
                new TestObject("large", 4L * PAGE_SIZE).store(cache);
                Path index = config.directory().resolve("index.log");
                for (int i = 0; 4096 - Files.size(index) % 4096 >= 17; i++) { // the size of the shortest record
                    new TestObject("small-" + i, 4096).store(cache);
                }
                cache.awaitWritten(); // else it would take space that fill must take
                long before = cache.statistics().diskBytes();
                fill(mounted.path().resolve("other"));
                await(() -> Files.getFileStore(mounted.path()).getUsableSpace() >= 2L << 20);
                await(() -> cache.statistics().diskBytes() <= before - (2L << 20)); // counted after it is freed
                assertThat(cache.statistics().diskBytes()).isPositive();
            }
        }
    }

    /** Takes all free space in one step. */
    private static void fill(Path path) throws Exception {
        await(
                () -> { // the cache may take a block meanwhile
                    long free = Files.getFileStore(path.getParent()).getUsableSpace();
                    return Tmpfs.run("fallocate", "-l", Long.toString(free), path.toString()) == 0;
                });
    }

    @Test
    void open_onAReadOnlyFileSystem_saysSo() throws Exception {
        try (Tmpfs mounted = Tmpfs.mount(directory.resolve("read-only"), "8m")) {
            mounted.remount("ro");
            CacheConfig config = new CacheConfig(mounted.path().resolve("cache"), 1L << 30, 0, 8L * PAGE_SIZE);
            assertThatThrownBy(() -> PageCache.open(config))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("cache folder " + config.directory())
                    .hasMessageContaining("Read-only file system")
                    .hasMessageContaining("--cache");
        }
    }

    /** A small file system in memory; only root can mount one. */
    private record Tmpfs(Path path) implements AutoCloseable {
        static Tmpfs mount(Path path, String size) throws IOException {
            assumeTrue("root".equals(System.getProperty("user.name")), "mounting a tmpfs needs root");
            Files.createDirectories(path);
            assumeTrue(
                    run("mount", "-t", "tmpfs", "-o", "size=" + size, "penstock-test", path.toString()) == 0,
                    "no tmpfs");
            return new Tmpfs(path);
        }

        void remount(String options) {
            assertThat(run("mount", "-o", "remount," + options, path.toString()))
                    .isZero();
        }

        @Override
        public void close() {
            assertThat(run("umount", path.toString()))
                    .as("something in the cache folder is still open")
                    .isZero();
        }

        private static int run(String... command) {
            try {
                return new ProcessBuilder(command)
                        .inheritIO()
                        .start()
                        .onExit()
                        .join()
                        .exitValue();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }
}

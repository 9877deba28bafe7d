package io.penstock.cache;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.PageCache.Environment;
import io.penstock.cache.disk.ObjectFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** More pages than fit. */
@Timeout(60)
final class EvictionTest {
    private static final long SEED = 20_260_101;
    private static final int DISK_PAGES = 24;

    @TempDir
    Path directory;

    private PageCache open(int memoryPages) throws IOException {
        CacheConfig config =
                new CacheConfig(directory, (long) DISK_PAGES * PAGE_SIZE, 0, (long) memoryPages * PAGE_SIZE);
        return PageCache.open(config, new Environment(ObjectFiles::in, System::nanoTime, 4));
    }

    private static List<TestObject> objects(int count, long size) {
        return IntStream.range(0, count)
                .mapToObj(i -> new TestObject("object-" + i, size))
                .toList();
    }

    @Test
    void invalidate_whatIsStored_isNoEviction() throws Exception {
        TestObject object = new TestObject("object", 3L * PAGE_SIZE);
        try (PageCache cache = open(8)) {
            object.store(cache);
            cache.invalidate(TestObject.NAMESPACE, object.version());
            cache.awaitWritten();
            assertThat(cache.statistics().diskBytes()).isZero();
            assertThat(cache.statistics().evictedPages()).isZero();
        }
    }

    @Test
    void fill_moreThanFits_keepsWithinTheBoundAndFreesTheDisk() throws Exception {
        List<TestObject> objects = objects(6, 9L * PAGE_SIZE + 1);
        try (PageCache cache = open(8)) {
            for (TestObject object : objects) {
                object.store(cache);
                assertThat(cache.statistics().diskBytes()).isBetween(1L, (long) DISK_PAGES * PAGE_SIZE);
                assertThat(bytesOnDisk()).isLessThanOrEqualTo((DISK_PAGES + 2L) * PAGE_SIZE);
            }
            assertThat(cache.statistics().evictedPages()).isPositive();
            assertThat(cache.statistics().diskErrors()).isZero();
        }
        try (PageCache cache = open(8)) {
            long readable = objects.stream()
                    .mapToLong(object -> object.readablePages(cache).size())
                    .sum();
            assertThat(readable).isBetween(DISK_PAGES / 2L, DISK_PAGES + 4L);
            assertThat(cache.statistics().corruptPages()).isZero();
        }
    }

    @Test
    void adjust_aSmallerSize_evictsAndKeepsTheRest() throws Exception {
        List<TestObject> objects = objects(2, 9L * PAGE_SIZE + 1);
        try (PageCache cache = open(8)) {
            for (TestObject object : objects) {
                object.store(cache);
            }
            assertThat(cache.statistics().diskBytes()).isGreaterThan(16L * PAGE_SIZE);

            cache.adjust(new CacheConfig(directory, 8L * PAGE_SIZE, 0, 8L * PAGE_SIZE));
            cache.awaitWritten();

            assertThat(cache.statistics().diskBytes()).isBetween(1L, 8L * PAGE_SIZE);
            assertThat(bytesOnDisk()).isLessThanOrEqualTo(10L * PAGE_SIZE);
            objects.getFirst().store(cache);
            assertThat(cache.statistics().diskBytes()).isBetween(1L, 8L * PAGE_SIZE);
        }
    }

    @Test
    void adjust_aLargerSize_keepsMore() throws Exception {
        try (PageCache cache = open(8)) {
            cache.adjust(new CacheConfig(directory, 2L * DISK_PAGES * PAGE_SIZE, 0, 8L * PAGE_SIZE));

            for (TestObject object : objects(4, 9L * PAGE_SIZE + 1)) {
                object.store(cache);
            }

            assertThat(cache.statistics().diskBytes()).isGreaterThan((long) DISK_PAGES * PAGE_SIZE);
            assertThat(cache.statistics().evictedPages()).isZero();
        }
    }

    @Test
    void adjust_moreToLeaveFreeThanTheDiskHas_keepsNothing() throws Exception {
        try (PageCache cache = open(8)) {
            objects(1, 9L * PAGE_SIZE).getFirst().store(cache);

            cache.adjust(new CacheConfig(directory, (long) DISK_PAGES * PAGE_SIZE, Long.MAX_VALUE / 2, 8L * PAGE_SIZE));
            cache.awaitWritten();

            assertThat(cache.statistics().diskBytes()).isZero();
            assertThat(cache.roomBytes()).isZero();
        }
    }

    @Test
    void fill_whereNoHolesCanBePunched_removesWholeFiles() throws Exception {
        try (PageCache cache = openWithoutHoles()) {
            for (TestObject object : objects(8, 9L * PAGE_SIZE + 1)) {
                object.store(cache);
                assertThat(cache.statistics().diskBytes()).isBetween(1L, (long) DISK_PAGES * PAGE_SIZE);
                assertThat(bytesOnDisk()).isLessThanOrEqualTo((DISK_PAGES + 2L) * PAGE_SIZE);
            }
            assertThat(cache.statistics().diskErrors()).isZero();
            assertThat(cache.statistics().evictedPages()).isPositive();
        }
    }

    @Test
    void evict_withoutHolePunching_countsAFileUntilItIsClosed() throws Exception {
        TestObject object = new TestObject("object", 9L * PAGE_SIZE);
        try (PageCache cache = openWithoutHoles()) {
            CachedObject inUse = object.open(cache);
            object.store(cache);
            cache.invalidate(TestObject.NAMESPACE, object.version());
            cache.awaitWritten();
            assertThat(object.readablePages(cache)).isEmpty();
            assertThat(cache.statistics().diskBytes()).isEqualTo(object.size());

            inUse.close();
            cache.awaitWritten();
            assertThat(cache.statistics().diskBytes()).isZero();
            assertThat(bytesOnDisk()).isZero();
        }
    }

    @Test
    void store_withoutHolePunchingInAFileInUse_countsEachPageOnce() throws Exception {
        TestObject object = new TestObject("object", 9L * PAGE_SIZE);
        try (PageCache cache = openWithoutHoles();
                CachedObject inUse = object.open(cache)) {
            for (int round = 0; round < 3; round++) {
                object.store(cache);
                assertThat(cache.statistics().diskBytes()).isEqualTo(object.size());
                assertThat(inUse.isWhole()).isTrue();

                cache.invalidate(TestObject.NAMESPACE, object.version());
                cache.awaitWritten();
                assertThat(cache.statistics().diskBytes()).isEqualTo(object.size());
            }
        }
    }

    /** Each extent takes heap, however little it stores. */
    @Test
    void fill_ofMoreExtentsThanThereMayBe_keepsTheLast() throws Exception {
        CacheConfig config = new CacheConfig(directory, (long) DISK_PAGES * PAGE_SIZE, 0, 8L * PAGE_SIZE);
        Environment scarce = new Environment(ObjectFiles::in, System::nanoTime, 4, 5, Slab::new, Duration.ofMinutes(1));
        List<TestObject> objects = objects(12, PAGE_SIZE);
        try (PageCache cache = PageCache.open(config, scarce)) {
            for (TestObject object : objects) {
                object.store(cache);
            }
            assertThat(cache.statistics().evictedPages()).isEqualTo(7);
        }
        try (PageCache cache = open(8)) {
            assertThat(objects.stream()
                            .mapToInt(object -> object.readablePages(cache).size())
                            .sum())
                    .isEqualTo(5);
        }
    }

    private PageCache openWithoutHoles() throws IOException {
        FaultyFiles files = new FaultyFiles();
        files.set(FaultyFiles.Fault.NO_HOLES);
        CacheConfig config = new CacheConfig(directory, (long) DISK_PAGES * PAGE_SIZE, 0, 8L * PAGE_SIZE);
        return PageCache.open(config, new Environment(files::on, System::nanoTime, 4));
    }

    @Test
    void fill_whereSpaceIsGivenBackBehindManyWrites_storesWhatFits() throws Exception {
        TestObject old = new TestObject("old", 16L * PAGE_SIZE);
        TestObject other = new TestObject("other", 3L * PAGE_SIZE);
        TestObject wanted = new TestObject("wanted", 12L * PAGE_SIZE);
        FaultyFiles files = new FaultyFiles();
        CacheConfig config = new CacheConfig(directory, (long) DISK_PAGES * PAGE_SIZE, 0, 64L * PAGE_SIZE);
        try (PageCache cache = PageCache.open(config, new Environment(files::on, System::nanoTime, 16));
                CachedObject open = old.open(cache)) {
            for (int page = 0; page < 15; page++) {
                old.fill(TestObject.claimed(open, page, page + 1), PAGE_SIZE);
                cache.awaitWritten();
            }
            CountDownLatch lastUse = files.stall();
            old.fill(TestObject.claimed(open, 15, 16), PAGE_SIZE);
            awaitDiskPages(cache, pages -> pages == 16);
            cache.invalidate(TestObject.NAMESPACE, old.version()); // which takes effect after the last use

            CountDownLatch otherWrites = files.stall();
            other.fillAll(cache); // so none of the writing threads is free
            awaitDiskPages(cache, pages -> pages == 19);
            wanted.fillAll(cache);
            lastUse.countDown();
            awaitDiskPages(cache, pages -> pages != 19); // the first wanted page gets its turn
            otherWrites.countDown();
            cache.awaitWritten();

            assertThat(cache.statistics().unstoredPages()).isZero();
            assertThat(wanted.readablePages(cache)).hasSize(12);
            assertThat(cache.statistics().diskBytes()).isEqualTo(15L * PAGE_SIZE);
        }
    }

    private static void awaitDiskPages(PageCache cache, LongPredicate condition) throws InterruptedException {
        while (!condition.test(cache.statistics().diskBytes() / PAGE_SIZE)) {
            Thread.sleep(1);
        }
    }

    @Test
    void open_withASmallerBound_shrinks() throws Exception {
        try (PageCache cache = open(8)) {
            for (TestObject object : objects(3, 8L * PAGE_SIZE)) {
                object.store(cache);
            }
        }
        try (PageCache cache = PageCache.open(new CacheConfig(directory, 8L * PAGE_SIZE, 0, 4L * PAGE_SIZE))) {
            cache.awaitWritten();
            assertThat(cache.statistics().diskBytes()).isLessThanOrEqualTo(8L * PAGE_SIZE);
        }
    }

    @Test
    void read_underEviction_givesRightBytesOrMissing() throws Exception {
        List<TestObject> objects = objects(8, 7L * PAGE_SIZE + 54_321);
        try (PageCache cache = open(6);
                ExecutorService threads = Executors.newFixedThreadPool(6)) {
            List<Future<?>> readers = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                Random random = new Random(SEED + i);
                readers.add(threads.submit((Callable<?>) () -> {
                    for (int step = 0; step < 400; step++) {
                        readSomewhere(cache, objects.get(random.nextInt(objects.size())), random);
                    }
                    return null;
                }));
            }
            for (Future<?> reader : readers) {
                reader.get();
            }
            cache.awaitWritten();
            CacheStatistics statistics = cache.statistics();
            assertThat(statistics.evictedPages()).isPositive();
            assertThat(statistics.diskHits()).isPositive();
            assertThat(statistics.corruptPages()).isZero();
            assertThat(statistics.diskErrors()).isZero();
            assertThat(statistics.diskBytes()).isLessThanOrEqualTo((long) DISK_PAGES * PAGE_SIZE);
            assertThat(cache.busyBytes()).isZero();
        }
    }

    private static void readSomewhere(PageCache cache, TestObject object, Random random) throws Exception {
        long position = random.nextLong(object.size());
        int length = 1 + random.nextInt(64 << 10);
        try (CachedObject open = object.open(cache)) {
            int page = (int) (position / PAGE_SIZE);
            while (object.readAndCheck(open, position, length) == CachedObject.MISSING) {
                Fill fill = open.claim(page, page + 1L + random.nextInt(3), Urgency.DEMAND);
                if (fill == null) {
                    continue;
                }
                if (random.nextInt(20) == 0) {
                    fill.fail(new IOException("a reset, made up"));
                } else {
                    object.fill(fill, 1 + random.nextInt(PAGE_SIZE));
                }
            }
        } catch (FillFailedException e) {
            assertThat(e).hasRootCauseMessage("a reset, made up");
        }
    }

    private long bytesOnDisk() throws IOException {
        try (Stream<Path> files = Files.walk(directory.resolve("objects"))) {
            return files.filter(Files::isRegularFile)
                    .mapToLong(EvictionTest::allocatedBytes)
                    .sum();
        }
    }

    static long allocatedBytes(Path file) {
        try {
            Process stat = new ProcessBuilder("stat", "-c", "%b", file.toString()).start();
            return Long.parseLong(
                            new String(stat.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.US_ASCII)
                                    .strip())
                    * 512;
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void keepsNothing_lessFreeThanTheMinimum_isKnownAtTheOpen() throws Exception {
        for (long minFree : new long[] {0, 1L << 60}) {
            Path folder = directory.resolve("left" + minFree);
            try (PageCache cache = PageCache.open(new CacheConfig(folder, 64L << 20, minFree, 16L << 20))) {
                assertThat(cache.keepsNothing()).isEqualTo(minFree > 0);
            }
        }
    }
}

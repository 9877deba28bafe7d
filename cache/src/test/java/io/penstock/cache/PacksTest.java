package io.penstock.cache;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.penstock.cache.CachedObject.FromDisk;
import io.penstock.cache.PageCache.Environment;
import io.penstock.cache.disk.ObjectFiles;
import io.penstock.core.Crc32c;
import io.penstock.disk.DirectIo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Objects smaller than a page. */
@Timeout(60)
final class PacksTest {
    private static final long SEED = 20_261_125;

    /** Pages per extent: few, so that some objects cross page boundaries. */
    private static final int EXTENT_PAGES = 4;

    private static final int DISK_PAGES = 24;

    @TempDir
    Path directory;

    private final Random random = new Random(SEED);

    private PageCache open() throws IOException {
        return open(EXTENT_PAGES);
    }

    private PageCache open(int extentPages) throws IOException {
        return open(new Environment(ObjectFiles::in, System::nanoTime, extentPages));
    }

    private PageCache open(Environment environment) throws IOException {
        return PageCache.open(
                new CacheConfig(directory, (long) DISK_PAGES * PAGE_SIZE, 0, 2L * PAGE_SIZE), environment);
    }

    private List<TestObject> objects(String name, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> new TestObject(name + i, i % 10 == 0 ? 1 + random.nextInt(9000) : 90_000 + i))
                .toList();
    }

    private static void storeAll(PageCache cache, List<TestObject> objects) throws InterruptedException {
        for (TestObject object : objects) {
            object.store(cache);
        }
    }

    private static List<TestObject> readable(PageCache cache, List<TestObject> objects) {
        return objects.stream()
                .filter(object -> !object.readablePages(cache).isEmpty())
                .toList();
    }

    private List<Path> dataFiles() throws IOException {
        try (Stream<Path> all = Files.walk(directory.resolve("objects"))) {
            return all.filter(Files::isRegularFile).toList();
        }
    }

    /** The object's position in the only pack. */
    private long positionOf(TestObject object) throws IOException {
        byte[] start = object.content(0, 64).array();
        try (FileChannel pack = FileChannel.open(dataFiles().getFirst())) {
            ByteBuffer block = ByteBuffer.allocate(start.length);
            for (long position = 0; ; position += 4096) {
                pack.read(block.clear(), position);
                if (java.util.Arrays.equals(block.array(), start)) {
                    return position;
                }
            }
        }
    }

    private void flipBit(long position) throws IOException {
        try (FileChannel pack =
                FileChannel.open(dataFiles().getFirst(), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer one = ByteBuffer.allocate(1);
            pack.read(one, position);
            pack.write(ByteBuffer.wrap(new byte[] {(byte) (one.get(0) ^ 4)}), position);
        }
    }

    @Test
    void store_manySmallObjects_makesOneFile_andTheNextProcessHasThem() throws Exception {
        List<TestObject> objects = objects("a", 150);
        try (PageCache cache = open()) {
            storeAll(cache, objects);
            assertThat(readable(cache, objects)).isEqualTo(objects);
            assertThat(cache.statistics().diskHits()).isPositive();
            assertThat(dataFiles()).hasSize(1);
            assertThat(EvictionTest.allocatedBytes(dataFiles().getFirst()))
                    .isLessThanOrEqualTo(cache.statistics().diskBytes());
        }
        List<TestObject> more = objects("more", 20);
        try (PageCache cache = open()) {
            assertThat(readable(cache, objects)).isEqualTo(objects);
            storeAll(cache, more);
            assertThat(cache.statistics().evictedPages()).isZero();
        }
        try (PageCache cache = open()) {
            assertThat(readable(cache, objects)).isEqualTo(objects);
            assertThat(readable(cache, more)).isEqualTo(more);
            assertThat(cache.statistics().corruptPages()).isZero();
            assertThat(dataFiles()).hasSize(2);
        }
    }

    @Test
    void store_ofEverySizeAtABoundary_isRead() throws Exception {
        List<TestObject> objects = IntStream.of(1, 4095, 4096, 4097, 65_536, PAGE_SIZE - 1, PAGE_SIZE, PAGE_SIZE + 1)
                .mapToObj(size -> new TestObject("of-" + size, size))
                .toList();
        try (PageCache cache = open(1)) {
            storeAll(cache, objects);
        }
        try (PageCache cache = open(1)) {
            assertThat(readable(cache, objects)).isEqualTo(objects);
            for (TestObject object : objects) {
                try (CachedObject open = object.open(cache)) {
                    assertThat(open.isWhole()).isTrue();
                    assertThat(object.readAndCheck(open, object.size() / 2, PAGE_SIZE))
                            .isPositive();
                }
            }
        }
    }

    @Test
    void read_intoAlignedMemory_isDirect_andOtherReadsAreNot() throws Exception {
        assumeThat(DirectIo.isSupported(directory)).isTrue();
        FaultyFiles files = new FaultyFiles();
        List<TestObject> objects = IntStream.range(0, 40)
                .mapToObj(i -> new TestObject("a" + i, 100_001))
                .toList();
        ByteBuffer aligned = ByteBuffer.allocateDirect(128 << 10).alignedSlice(4096);
        try (PageCache cache = open(new Environment(files::on, System::nanoTime, EXTENT_PAGES));
                CachedObject first = objects.getFirst().open(cache);
                CachedObject second = objects.get(1).open(cache)) {
            storeAll(cache, objects); // the last ones are in memory
            assertThat(first.read(0, aligned, null, FromDisk.REQUESTED)).isEqualTo(100_001);
            assertThat(aligned.flip()).isEqualTo(objects.getFirst().content(0, 100_001));
            assertThat(files.directReads()).isEqualTo(1);

            assertThat(first.read(100, aligned.clear().limit(40_000), null, FromDisk.REQUESTED))
                    .isEqualTo(40_000);
            assertThat(second.read(0, aligned.clear().limit(8192), null, FromDisk.REQUESTED))
                    .isEqualTo(8192);
            assertThat(second.read(0, ByteBuffer.allocate(128 << 10), null, FromDisk.REQUESTED))
                    .isEqualTo(100_001);
            assertThat(second.read(0, aligned.clear().limit(100_001), null, FromDisk.REQUESTED))
                    .as("no room for the last block")
                    .isEqualTo(100_001);
            assertThat(files.directReads()).isEqualTo(1);
        }
    }

    @Test
    void store_moreThanFits_evictsExtentsAndARestartHasTheRest() throws Exception {
        List<TestObject> objects = objects("a", 1000);
        List<TestObject> left;
        try (PageCache cache = open()) {
            storeAll(cache, objects);
            CacheStatistics statistics = cache.statistics();
            assertThat(statistics.diskBytes()).isBetween(1L, (long) DISK_PAGES * PAGE_SIZE);
            assertThat(statistics.evictedPages() % EXTENT_PAGES).isZero();
            assertThat(statistics.unstoredPages()).isZero();
            long allocated = 0;
            for (Path file : dataFiles()) {
                allocated += EvictionTest.allocatedBytes(file);
            }
            assertThat(allocated).isLessThanOrEqualTo((long) DISK_PAGES * PAGE_SIZE);
            left = readable(cache, objects);
            assertThat(left).hasSizeGreaterThan((DISK_PAGES - 2 * EXTENT_PAGES) * PAGE_SIZE / 94_208);
        }
        try (PageCache cache = open()) {
            // Some of what the disk has lost was in memory.
            assertThat(left).containsAll(readable(cache, objects));
            assertThat(cache.statistics().corruptPages()).isZero();
            storeAll(cache, objects);
            assertThat(cache.statistics().diskBytes()).isBetween(1L, (long) DISK_PAGES * PAGE_SIZE);
        }
        assertThat(dataFiles()).hasSizeLessThanOrEqualTo(2);
    }

    @Test
    void store_whereFilesGoAsAWhole_staysWithinTheBound() throws Exception {
        FaultyFiles files = new FaultyFiles();
        files.set(FaultyFiles.Fault.NO_HOLES);
        List<TestObject> objects = objects("a", 1500);
        try (PageCache cache = open(new Environment(files::on, System::nanoTime, EXTENT_PAGES))) {
            for (TestObject object : objects) {
                object.store(cache);
                assertThat(cache.statistics().diskBytes()).isLessThanOrEqualTo((long) DISK_PAGES * PAGE_SIZE);
            }
            assertThat(readable(cache, objects)).isNotEmpty();
            assertThat(cache.statistics().unstoredPages()).isLessThan(objects.size() / 4);
        }
    }

    @Test
    void read_flippedBit_isMissingAndItsNeighboursAreThere() throws Exception {
        List<TestObject> objects = objects("a", 30);
        try (PageCache cache = open()) {
            storeAll(cache, objects);
        }
        TestObject damaged = objects.get(17);
        flipBit(positionOf(damaged) + 5000);
        List<TestObject> others = new ArrayList<>(objects);
        others.remove(damaged);
        try (PageCache cache = open()) {
            assertThat(readable(cache, objects)).isEqualTo(others);
            assertThat(cache.statistics().corruptPages()).isEqualTo(1);
            cache.awaitWritten();
        }
        try (PageCache cache = open()) {
            assertThat(readable(cache, objects)).isEqualTo(others);
            assertThat(cache.statistics().corruptPages()).isZero(); // the damage is known
            damaged.store(cache);
        }
        try (PageCache cache = open()) {
            assertThat(readable(cache, objects)).isEqualTo(objects);
        }
    }

    @Test
    void read_ofAFileThatSomebodyHasRemoved_isMissing() throws Exception {
        List<TestObject> objects = objects("a", 30);
        try (PageCache cache = open()) {
            storeAll(cache, objects);
        }
        Files.delete(dataFiles().getFirst());
        try (PageCache cache = open()) {
            assertThat(readable(cache, objects)).isEmpty();
            assertThat(cache.statistics().diskErrors()).isZero();
            storeAll(cache, objects);
            assertThat(readable(cache, objects)).isEqualTo(objects);
        }
    }

    /** The file is still open, and serves until a read reopens it or until the next start. */
    @Test
    void store_onceSomebodyHasRemovedTheFile_losesNothingButTheCache() throws Exception {
        List<TestObject> objects = objects("a", 40);
        try (PageCache cache = open()) {
            storeAll(cache, objects.subList(0, 10));
            Files.delete(dataFiles().getFirst());
            storeAll(cache, objects.subList(10, 40));
            assertThat(cache.statistics().diskErrors()).isZero();
            assertThat(objects).containsAll(readable(cache, objects)); // until a read finds the file missing
        }
        try (PageCache cache = open()) {
            assertThat(readable(cache, objects)).isEmpty();
            storeAll(cache, objects);
            assertThat(cache.statistics().corruptPages()).isZero();
        }
        try (PageCache cache = open()) {
            assertThat(readable(cache, objects)).isEqualTo(objects);
        }
    }

    @Test
    void read_fileTruncatedWhileInUse_neverReturnsOtherBytes() throws Exception {
        List<TestObject> objects = objects("a", 60);
        try (PageCache cache = open()) {
            storeAll(cache, objects);
            try (FileChannel file = FileChannel.open(dataFiles().getFirst(), StandardOpenOption.WRITE)) {
                file.truncate(5000);
            }
            TestObject first = objects.get(5); // read first, which reveals the damage
            assertThat(readable(cache, List.of(first))).isEmpty();
            for (int epoch = 0; epoch < 2; epoch++) {
                storeAll(cache, objects);
                assertThat(readable(cache, objects)).isEqualTo(objects); // compares each
            }
        }
        try (PageCache cache = open()) {
            assertThat(readable(cache, objects)).isEqualTo(objects);
        }
    }

    @Test
    void room_whereTheDiskHasLessThanIsToBeLeftFree_isNone() throws Exception {
        CacheConfig config = new CacheConfig(directory, 1L << 30, Long.MAX_VALUE / 2, 2L * PAGE_SIZE);
        try (PageCache cache = PageCache.open(config)) {
            cache.awaitWritten();
            assertThat(cache.roomBytes()).isZero();
        }
    }

    @Test
    void store_afterAnErrorOfTheDisk_beginsAnotherFile() throws Exception {
        FaultyFiles files = new FaultyFiles();
        List<TestObject> objects = objects("a", 40);
        try (PageCache cache = open(new Environment(files::on, System::nanoTime, EXTENT_PAGES))) {
            storeAll(cache, objects.subList(0, 10));
            files.set(FaultyFiles.Fault.READ_ONLY);
            objects.get(10).store(cache);
            files.set(FaultyFiles.Fault.NONE);
            storeAll(cache, objects.subList(11, 40));
            cache.awaitWritten();
        }
        try (PageCache cache = open()) {
            assertThat(readable(cache, objects)).hasSize(39).doesNotContain(objects.get(10));
            assertThat(dataFiles()).hasSize(2);
        }
    }

    @Test
    void invalidate_isForThatObjectOnly_alsoForTheNextProcess() throws Exception {
        List<TestObject> objects = objects("a", 30);
        List<TestObject> others = objects.subList(1, 30);
        try (PageCache cache = open()) {
            storeAll(cache, objects);
            cache.invalidate(TestObject.NAMESPACE, objects.getFirst().version());
            assertThat(readable(cache, objects)).isEqualTo(others);
            cache.awaitWritten();
        }
        try (PageCache cache = open()) {
            assertThat(readable(cache, objects)).isEqualTo(others);
            objects.getFirst().store(cache);
            assertThat(readable(cache, objects)).isEqualTo(objects);
        }
    }

    @Test
    void open_withExtentsOfAnotherSize_hasWhatLiesInOne() throws Exception {
        List<TestObject> objects = objects("a", 100);
        try (PageCache cache = open(8)) {
            storeAll(cache, objects);
        }
        try (PageCache cache = open(1)) {
            assertThat(readable(cache, objects)).hasSizeBetween(80, 95);
            assertThat(cache.statistics().corruptPages()).isZero();
        }
        try (PageCache cache = open(8)) {
            assertThat(readable(cache, objects)).hasSizeBetween(80, 95);
            storeAll(cache, objects("b", 300));
            assertThat(cache.statistics().diskBytes()).isLessThanOrEqualTo((long) DISK_PAGES * PAGE_SIZE);
            assertThat(cache.statistics().corruptPages()).isZero();
        }
        try (PageCache cache = open(2)) {
            readable(cache, objects); // compares each
            assertThat(cache.statistics().corruptPages()).isZero();
        }
    }

    @Test
    void adopt_ofASmallFile_isLeftToItsOwner() throws Exception {
        TestObject object = new TestObject("written", 100_000);
        byte[] content = object.content(0, 100_000).array();
        int[] checksums = {Crc32c.of(ByteBuffer.wrap(content))};
        Path staged = directory.resolveSibling(directory.getFileName() + "-staged");
        try (PageCache cache = open()) {
            Files.write(staged, content);
            assertThat(PageCache.hasOwnFile(object.size())).isFalse();
            assertThat(cache.adopt(
                            TestObject.NAMESPACE, object.version(), staged, BitSet.valueOf(new long[] {1}), checksums))
                    .isFalse();
            assertThat(staged).exists();
        } finally {
            Files.deleteIfExists(staged);
        }
    }

    /** Each object takes heap, however small it is. */
    @Test
    void store_ofMoreThanTheHeapHasRoomFor_evicts() throws Exception {
        List<TestObject> objects = IntStream.range(0, 3000)
                .mapToObj(i -> new TestObject("tiny" + i, 10))
                .toList();
        Environment scarce =
                new Environment(ObjectFiles::in, System::nanoTime, 1, 500, Slab::new, Duration.ofMinutes(1));
        try (PageCache cache = open(scarce)) {
            storeAll(cache, objects);
            assertThat(cache.statistics().evictedPages()).isPositive();
            cache.awaitWritten();
        }
        try (PageCache cache = open()) {
            assertThat(readable(cache, objects)).hasSizeBetween(1000, 1500);
        }
    }

    @Test
    void readAndStore_byManyThreadsUnderEviction_givesRightBytes() throws Exception {
        List<TestObject> objects = objects("a", 500);
        try (PageCache cache = open();
                ExecutorService threads = Executors.newFixedThreadPool(6)) {
            List<Future<?>> readers = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                Random places = new Random(SEED + i);
                readers.add(threads.submit((Callable<?>) () -> {
                    for (int step = 0; step < 1500; step++) {
                        readSomewhere(cache, objects.get(places.nextInt(objects.size())), places);
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
            assertThat(cache.busyBytes()).isZero();
        }
        try (PageCache cache = open()) {
            assertThat(readable(cache, objects)).isNotEmpty();
            assertThat(cache.statistics().corruptPages()).isZero();
        }
    }

    private static void readSomewhere(PageCache cache, TestObject object, Random places) throws Exception {
        long position = places.nextLong(object.size());
        try (CachedObject open = object.open(cache)) {
            while (object.readAndCheck(open, position, 1 + places.nextInt(PAGE_SIZE)) == CachedObject.MISSING) {
                Fill fill = open.claim(0, 1, Urgency.DEMAND);
                if (fill != null) {
                    object.fill(fill, PAGE_SIZE);
                }
            }
            if (places.nextInt(100) == 0) {
                cache.invalidate(TestObject.NAMESPACE, object.version());
            }
        }
    }
}

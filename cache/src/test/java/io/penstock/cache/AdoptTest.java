package io.penstock.cache;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.PageCache.Environment;
import io.penstock.cache.disk.ObjectFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files written elsewhere that the cache takes over. */
@Timeout(60)
final class AdoptTest {
    private static final TestObject OBJECT = new TestObject("written", 5L * PAGE_SIZE + 12_345);

    @TempDir
    Path directory;

    private PageCache open() throws IOException {
        return open(64);
    }

    private PageCache open(int pages) throws IOException {
        CacheConfig config = new CacheConfig(directory, (long) pages * PAGE_SIZE, 0, 8L * PAGE_SIZE);
        return PageCache.open(config, new Environment(ObjectFiles::in, System::nanoTime, 2));
    }

    private Path write(TestObject object, BitSet pages) throws IOException {
        Path file = directory.resolve("staged");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            for (int page : pages.stream().toArray()) {
                channel.write(object.content(start(page), length(object, page)), start(page));
            }
        }
        return file;
    }

    private static long start(int page) {
        return (long) page * PAGE_SIZE;
    }

    private static int length(TestObject object, int page) {
        return (int) Math.min(PAGE_SIZE, object.size() - start(page));
    }

    private static int[] checksums(TestObject object) {
        int[] checksums = new int[object.pages()];
        for (int page = 0; page < checksums.length; page++) {
            CRC32C crc = new CRC32C();
            ByteBuffer content = object.content(start(page), length(object, page));
            crc.update(content);
            checksums[page] = (int) crc.getValue();
        }
        return checksums;
    }

    private static BitSet pages(int... pages) {
        BitSet set = new BitSet();
        for (int page : pages) {
            set.set(page);
        }
        return set;
    }

    private boolean adopt(PageCache cache, TestObject object, BitSet pages) throws IOException {
        return cache.adopt(TestObject.NAMESPACE, object.version(), write(object, pages), pages, checksums(object));
    }

    @Test
    void adopt_someOfThePages_hasThoseAndNoOthers() throws Exception {
        try (PageCache cache = open()) {
            assertThat(adopt(cache, OBJECT, pages(0, 2, 3, 5))).isTrue();
            assertThat(OBJECT.readablePages(cache)).containsExactly(0, 2, 3, 5);
            assertThat(directory.resolve("staged")).doesNotExist();
            assertThat(cache.statistics().diskBytes()).isEqualTo(3L * PAGE_SIZE + 16_384);
            OBJECT.store(cache);
            assertThat(OBJECT.readablePages(cache)).hasSize(6);
        }
        try (PageCache cache = open()) {
            assertThat(OBJECT.readablePages(cache)).hasSize(6);
            assertThat(cache.statistics().corruptPages()).isZero();
        }
    }

    @Test
    void adopt_moreThanThereIsRoomFor_countsWhatIsNotStored() throws Exception {
        try (PageCache cache = open(2)) {
            assertThat(adopt(cache, OBJECT, pages(0, 1, 2, 3, 4, 5))).isTrue();
            cache.awaitWritten();
            CacheStatistics statistics = cache.statistics();
            assertThat(OBJECT.readablePages(cache).size() + statistics.evictedPages() + statistics.unstoredPages())
                    .isEqualTo(6);
        }
    }

    @Test
    void adopt_moreThanThereIsRoomFor_takesNoMoreOnDiskThanIsCounted() throws Exception {
        TestObject large = new TestObject("large", 20L * PAGE_SIZE);
        TestObject next = new TestObject("next", 20L * PAGE_SIZE);
        try (PageCache cache = open(12)) {
            for (TestObject object : List.of(large, next, OBJECT)) {
                BitSet pages = new BitSet();
                pages.set(0, object.pages());
                assertThat(adopt(cache, object, pages)).isTrue();
                cache.awaitWritten();
                assertThat(bytesOnDisk()).isLessThanOrEqualTo(cache.statistics().diskBytes());
                assertThat(cache.statistics().diskBytes()).isBetween(1L, 12L * PAGE_SIZE);
            }
        }
    }

    @Test
    void adopt_whereNoHolesCanBePunched_countsWhatItTakesOnDisk() throws Exception {
        FaultyFiles files = new FaultyFiles();
        files.set(FaultyFiles.Fault.NO_HOLES);
        CacheConfig config = new CacheConfig(directory, 2L * PAGE_SIZE, 0, 8L * PAGE_SIZE);
        try (PageCache cache = PageCache.open(config, new Environment(files::on, System::nanoTime, 2));
                CachedObject open = OBJECT.open(cache)) {
            assertThat(adopt(cache, OBJECT, pages(0, 1, 2, 3, 4, 5))).isTrue();
            cache.awaitWritten();
            assertThat(bytesOnDisk()).isLessThanOrEqualTo(cache.statistics().diskBytes());
            assertThat(open.version()).isEqualTo(OBJECT.version());
        }
    }

    @Test
    void adopt_whereTheFileCannotBeLinked_leavesItToItsOwner() throws Exception {
        FaultyFiles files = new FaultyFiles();
        CacheConfig config = new CacheConfig(directory, 64L * PAGE_SIZE, 0, 8L * PAGE_SIZE);
        try (PageCache cache = PageCache.open(config, new Environment(files::on, System::nanoTime, 2));
                CachedObject open = OBJECT.open(cache)) {
            files.set(FaultyFiles.Fault.READ_ONLY);
            assertThat(adopt(cache, OBJECT, pages(0, 1, 2, 3, 4, 5))).isFalse();
            files.set(FaultyFiles.Fault.NONE);
            Path staged = directory.resolve("staged");
            assertThat(staged).exists();
            assertThat(cache.adopt(
                            TestObject.NAMESPACE, OBJECT.version(), staged, pages(0, 1, 2, 3, 4, 5), checksums(OBJECT)))
                    .isTrue();
            assertThat(OBJECT.readablePages(cache)).hasSize(6);
            assertThat(open.version()).isEqualTo(OBJECT.version());
        }
    }

    private long bytesOnDisk() throws IOException {
        try (Stream<Path> files = Files.walk(directory.resolve("objects"))) {
            return files.filter(Files::isRegularFile)
                    .mapToLong(EvictionTest::allocatedBytes)
                    .sum();
        }
    }

    @Test
    void adopt_afterItsIndexIsCut_leavesNoFile() throws Exception {
        try (PageCache cache = open()) {
            assertThat(adopt(cache, OBJECT, pages(0, 1, 2, 3, 4, 5))).isTrue();
        }
        byte[] index = Files.readAllBytes(directory.resolve("index.log"));
        Files.write(directory.resolve("index.log"), java.util.Arrays.copyOf(index, index.length / 2));
        try (PageCache cache = open()) {
            cache.awaitWritten();
            assertThat(cache.statistics().corruptPages()).isZero();
            assertThat(OBJECT.readablePages(cache).size()).isLessThan(6);
        }
    }

    @Test
    void adopt_ofDamagedBytes_areMissingAfterARestart() throws Exception {
        try (PageCache cache = open()) {
            assertThat(adopt(cache, OBJECT, pages(0, 1, 2, 3, 4, 5))).isTrue();
        }
        try (Stream<Path> all = Files.walk(directory.resolve("objects"))) {
            Path file = all.filter(Files::isRegularFile).findFirst().orElseThrow();
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.write(ByteBuffer.allocate(4096), start(1)); // lost in a power cut
            }
        }
        try (PageCache cache = open()) {
            assertThat(OBJECT.readablePages(cache)).containsExactly(0, 2, 3, 4, 5);
        }
    }

    @Test
    void adopt_whereThereArePages_isRefused() throws Exception {
        try (PageCache cache = open()) {
            OBJECT.store(cache);
            assertThat(adopt(cache, OBJECT, pages(0))).isFalse();
            assertThat(directory.resolve("staged")).exists();
            assertThat(OBJECT.readablePages(cache)).hasSize(6);
        }
    }

    @Test
    void adopt_moreThanThereIsSpaceFor_keepsTheBounds() throws Exception {
        TestObject other = new TestObject("other", 6L * PAGE_SIZE);
        TestObject large = new TestObject("large", 20L * PAGE_SIZE);
        try (PageCache cache = open(12)) {
            other.store(cache);
            BitSet all = new BitSet();
            all.set(0, 20);
            assertThat(adopt(cache, large, all)).isTrue();
            cache.awaitWritten();
            assertThat(cache.statistics().diskBytes()).isLessThanOrEqualTo(12L * PAGE_SIZE);
            assertThat(large.readablePages(cache)).isNotEmpty();
            other.readablePages(cache); // compares each
        }
        try (PageCache cache = open(12)) {
            assertThat(large.readablePages(cache)).isNotEmpty();
            assertThat(cache.statistics().corruptPages()).isZero();
        }
    }

    @Test
    void adopt_readMeanwhile_givesOnlyRightBytes() throws Exception {
        for (int round = 0; round < 20; round++) {
            TestObject object = new TestObject("raced " + round, 4L * PAGE_SIZE);
            try (PageCache cache = open()) {
                Thread filler = Thread.startVirtualThread(() -> {
                    try {
                        object.fillAll(cache);
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
                if (!adopt(cache, object, pages(0, 1, 2, 3))) {
                    Files.delete(directory.resolve("staged"));
                }
                filler.join();
                cache.awaitWritten();
                for (int page : List.copyOf(object.readablePages(cache))) {
                    assertThat(page).isBetween(0, 3);
                }
            }
        }
    }
}

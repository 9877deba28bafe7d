package io.penstock.cache;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static io.penstock.cache.PageCache.SECTOR_SIZE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.cache.CachedObject.FromDisk;
import io.penstock.cache.disk.ReadShape;
import io.penstock.disk.DirectIo;
import io.penstock.disk.WorkingFolder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the next process finds in a cache folder. */
@Timeout(60)
final class RestartTest {
    private static final TestObject LARGE = new TestObject("large", 5L * PAGE_SIZE + 12_345);
    private static final TestObject SMALL = new TestObject("small", 100_000);

    @TempDir
    Path directory;

    private PageCache open() throws IOException {
        return PageCache.open(new CacheConfig(directory, 1L << 30, 0, 32L * PAGE_SIZE));
    }

    private void fillAndClose() throws Exception {
        try (PageCache cache = open()) {
            LARGE.store(cache);
            SMALL.store(cache);
        }
    }

    @Test
    void open_afterCleanClose_hasTheSamePages() throws Exception {
        fillAndClose();
        try (PageCache cache = open()) {
            assertThat(LARGE.readablePages(cache)).containsExactly(0, 1, 2, 3, 4, 5);
            assertThat(SMALL.readablePages(cache)).containsExactly(0);
            CacheStatistics statistics = cache.statistics();
            assertThat(statistics.diskHits()).isEqualTo(7);
            assertThat(statistics.diskReadBytes()).isEqualTo(LARGE.size() + SMALL.size());
            assertThat(statistics.memoryReadBytes()).isZero();
            assertThat(statistics.misses()).isZero();
            assertThat(statistics.diskBytes()).isEqualTo(5L * PAGE_SIZE + 16_384 + PAGE_SIZE); // one page of a pack
        }
    }

    @Test
    void open_afterCleanClose_hasTheSameSectorsAndNotTheirPages() throws Exception {
        try (PageCache cache = open();
                CachedObject pages = LARGE.open(cache);
                CachedObject sectors = cache.openSectors(pages)) {
            LARGE.fill(TestObject.claimed(sectors, 33, 35), SECTOR_SIZE);
        }
        try (PageCache cache = open();
                CachedObject pages = LARGE.open(cache);
                CachedObject sectors = cache.openSectors(pages)) {
            assertThat(sectors.pageSize()).isEqualTo(SECTOR_SIZE);
            assertThat(sectors.state(32)).isEqualTo(PageState.MISSING);
            assertThat(pages.state(2)).isEqualTo(PageState.MISSING);
            ByteBuffer read = ByteBuffer.allocate(SECTOR_SIZE);
            assertThat(sectors.read(34L * SECTOR_SIZE, read, null, FromDisk.REQUESTED))
                    .isEqualTo(SECTOR_SIZE);
            assertThat(read.flip()).isEqualTo(LARGE.content(34L * SECTOR_SIZE, SECTOR_SIZE));
            assertThat(cache.statistics().diskBytes()).isEqualTo(2L * SECTOR_SIZE);
        }
    }

    @Test
    void invalidate_ofAVersion_dropsItsSectorsToo() throws Exception {
        try (PageCache cache = open();
                CachedObject pages = LARGE.open(cache);
                CachedObject sectors = cache.openSectors(pages)) {
            LARGE.fill(TestObject.claimed(sectors, 33, 35), SECTOR_SIZE);
            cache.awaitWritten();
            cache.invalidate(TestObject.NAMESPACE, LARGE.version());
            assertThat(sectors.state(33)).isEqualTo(PageState.MISSING);
        }
    }

    @Test
    void readShape_afterARestart_isWhatWasNotedLast() throws Exception {
        fillAndClose();
        ReadShape last = ReadShape.UNKNOWN;
        for (ReadShape shape : List.of(ReadShape.IN_RUNS, ReadShape.AT_RANDOM, ReadShape.IN_RUNS)) {
            try (PageCache cache = open();
                    CachedObject object = LARGE.open(cache)) {
                assertThat(object.readShape()).isEqualTo(last);
                object.setReadShape(shape);
            }
            last = shape;
        }
        try (PageCache cache = open();
                CachedObject object = LARGE.open(cache)) {
            assertThat(object.readShape()).isEqualTo(last);
        }
    }

    @Test
    void open_afterManyRestarts_stillHasThem() throws Exception {
        fillAndClose();
        for (int i = 0; i < 3; i++) {
            open().close();
        }
        try (PageCache cache = open()) {
            assertThat(LARGE.readablePages(cache)).hasSize(6);
        }
    }

    @Test
    void read_sequentially_readsPagesAheadIntoMemory() throws Exception {
        TestObject object = new TestObject("sequential", 40L * PAGE_SIZE + 4096 + 5);
        int request = 128 << 10;
        try (PageCache cache = open()) {
            object.store(cache);
            long before = cache.statistics().memoryHits();
            try (CachedObject open = object.open(cache)) {
                for (long position = 0; position < object.size(); position += request) {
                    int expected = (int) Math.min(request, object.size() - position);
                    assertThat(object.readAndCheck(open, position, request, true))
                            .isEqualTo(expected);
                }
            }
            CacheStatistics statistics = cache.statistics();
            assertThat(statistics.diskReadBytes() + statistics.memoryReadBytes() + statistics.waitedReadBytes())
                    .isEqualTo(object.size());
            assertThat(statistics.diskHits())
                    .as("pages read by the reader itself")
                    .isLessThan(object.pages());
            assertThat(statistics.memoryHits() - before).isGreaterThan(object.pages() * 4L);
            assertThat(statistics.memoryBytes()).isLessThanOrEqualTo(32L * PAGE_SIZE);
        }
    }

    @Test
    void read_sequentiallyBeforeAMissingPage_readsAheadBeyondIt() throws Exception {
        TestObject object = new TestObject("sequential", 4L * PAGE_SIZE);
        try (PageCache cache = open();
                CachedObject open = object.open(cache)) {
            for (int page : new int[] {0, 2, 3}) {
                object.fill(TestObject.claimed(open, page, page + 1L), PAGE_SIZE);
            }
            cache.awaitWritten();
            new TestObject("other", 40L * PAGE_SIZE).store(cache); // takes all of the memory
            assertThat(open.isInMemory(2)).isFalse();

            object.readAndCheck(open, 0, 128 << 10, true);

            while (!open.isInMemory(2) || !open.isInMemory(3)) {
                Thread.sleep(1);
            }
            assertThat(open.state(1)).isEqualTo(PageState.MISSING);
        }
    }

    @Test
    void read_atRandom_readsNoMoreThanAsked() throws Exception {
        TestObject object = new TestObject("random", 40L * PAGE_SIZE);
        try (PageCache cache = open()) {
            object.store(cache);
            long memory = cache.statistics().memoryHits();
            try (CachedObject open = object.open(cache)) {
                for (int page = 0; page < 8; page++) { // the oldest, so not in memory
                    for (int i = 0; i < 4; i++) {
                        long position = (long) page * PAGE_SIZE + i * 200_000L;
                        assertThat(object.readAndCheck(open, position, 4096)).isEqualTo(4096);
                    }
                }
            }
            assertThat(cache.statistics().diskHits()).isEqualTo(32);
            assertThat(cache.statistics().memoryHits()).isEqualTo(memory);
        }
    }

    @Test
    void read_largeAtRandom_readsNoMoreThanAsked() throws Exception {
        TestObject object = new TestObject("random", 40L * PAGE_SIZE + 5);
        int request = 256 << 10;
        try (PageCache cache = open()) {
            object.store(cache);
            long memory = cache.statistics().memoryHits();
            ByteBuffer aligned =
                    ByteBuffer.allocateDirect(request + DirectIo.ALIGNMENT).alignedSlice(DirectIo.ALIGNMENT);
            try (CachedObject open = object.open(cache)) {
                for (int i = 0; i < 32; i++) { // pages that are not in memory, from their start and from within
                    long position = (long) (i * 7 % 32) * request;
                    assertThat(object.readAndCheck(open, position, request)).isEqualTo(request);
                    assertThat(open.read(position, aligned.clear().limit(request), null, FromDisk.REQUESTED))
                            .isEqualTo(request);
                    assertThat(aligned.flip()).isEqualTo(object.content(position, request));
                }
            }
            assertThat(cache.statistics().diskHits()).isEqualTo(64);
            assertThat(cache.statistics().memoryHits()).isEqualTo(memory);
        }
    }

    @Test
    void dataFile_ofACompleteObject_isTheObject() throws Exception {
        fillAndClose();
        assertThat(ByteBuffer.wrap(Files.readAllBytes(dataFileOf(LARGE))))
                .isEqualTo(LARGE.content(0, (int) LARGE.size()));
    }

    @Test
    void folder_andFiles_arePrivate() throws Exception {
        fillAndClose();
        try (Stream<Path> all = Files.walk(directory)) {
            assertThat(all.filter(path -> !path.endsWith(WorkingFolder.MARKER))) // reveals nothing about the content
                    .allSatisfy(path -> assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                            .isEqualTo(Files.isDirectory(path) ? "rwx------" : "rw-------"));
        }
    }

    @Test
    void read_ofAFlippedBit_isCountedAndMissing() throws Exception {
        fillAndClose();
        flipBit(dataFileOf(LARGE), 2L * PAGE_SIZE + 100);
        try (PageCache cache = open()) {
            assertThat(LARGE.readablePages(cache)).containsExactly(0, 1, 3, 4, 5);
            assertThat(cache.statistics().corruptPages()).isEqualTo(1);
            LARGE.store(cache);
            assertThat(LARGE.readablePages(cache)).hasSize(6);
        }
        try (PageCache cache = open()) {
            assertThat(LARGE.readablePages(cache)).hasSize(6);
            assertThat(cache.statistics().corruptPages()).isZero();
        }
    }

    @Test
    void read_checkedOrSequential_bitFlippedWhileRunning_isMissing() throws Exception {
        TestObject object = new TestObject("flipped", 40L * PAGE_SIZE);
        try (PageCache cache = open()) {
            SMALL.store(cache);
            object.store(cache); // its last 32 pages are in memory now
            for (Path file : dataFiles()) {
                flipBit(file, 100);
            }
            flipBit(dataFileOf(object), 2L * PAGE_SIZE + 100);
            ByteBuffer chunk = ByteBuffer.allocate(64 << 10);
            try (CachedObject open = object.open(cache);
                    CachedObject packed = SMALL.open(cache)) {
                assertThat(open.read(0, chunk, null, FromDisk.CHECKED)).isEqualTo(CachedObject.MISSING);
                assertThat(packed.read(0, chunk, null, FromDisk.CHECKED)).isEqualTo(CachedObject.MISSING);
                assertThat(open.read(PAGE_SIZE, chunk, null, FromDisk.CHECKED)).isEqualTo(chunk.capacity());
                assertThat(chunk.flip()).isEqualTo(object.content(PAGE_SIZE, chunk.capacity()));
                assertThat(object.readAndCheck(open, 2L * PAGE_SIZE, 128 << 10, true))
                        .isEqualTo(CachedObject.MISSING);
                assertThat(open.state(0)).isEqualTo(PageState.MISSING);
                assertThat(open.state(2)).isEqualTo(PageState.MISSING);
            }
            assertThat(cache.statistics().corruptPages()).isEqualTo(3);
        }
    }

    @Test
    void read_ofATruncatedFile_hasWhatIsLeft() throws Exception {
        fillAndClose();
        try (FileChannel file = FileChannel.open(dataFileOf(LARGE), StandardOpenOption.WRITE)) {
            file.truncate(2L * PAGE_SIZE + 1000);
        }
        try (PageCache cache = open()) {
            assertThat(LARGE.readablePages(cache)).containsExactly(0, 1);
        }
    }

    @Test
    void read_ofAMissingFile_isMissing() throws Exception {
        fillAndClose();
        Files.delete(dataFileOf(LARGE));
        try (PageCache cache = open()) {
            assertThat(LARGE.readablePages(cache)).isEmpty();
            LARGE.store(cache);
            assertThat(LARGE.readablePages(cache)).hasSize(6);
        }
    }

    @Test
    void open_withATornIndex_hasWhatTheIndexSays() throws Exception {
        fillAndClose();
        byte[] index = Files.readAllBytes(directory.resolve("index.log"));
        for (int length = index.length - 1; length >= 0; length -= 29) {
            Files.write(directory.resolve("index.log"), java.util.Arrays.copyOf(index, length));
            try (PageCache cache = open()) {
                assertThat(LARGE.readablePages(cache).size()).isLessThanOrEqualTo(6);
                assertThat(cache.statistics().corruptPages()).isZero();
            }
        }
        assertThat(dataFiles()).as("files of which the index knows nothing").isEmpty();
    }

    @Test
    void open_aFolderInUse_namesTheProcessAndTheWayOut() throws Exception {
        try (PageCache first = open()) {
            assertThat(first.statistics().diskBytes()).isZero();
            assertThatThrownBy(this::open)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(directory.toString())
                    .hasMessageContaining("process " + ProcessHandle.current().pid())
                    .hasMessageContaining("--cache");
        }
        open().close();
    }

    @Test
    void open_aFile_isRefused() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        assertThatThrownBy(() -> PageCache.open(new CacheConfig(file, 1L << 30, 0, 32L * PAGE_SIZE)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cache folder " + file);
    }

    @Test
    void open_withForeignFilesInObjects_removesThem() throws Exception {
        fillAndClose();
        Path folder = Files.createDirectories(directory.resolve("objects/00"));
        Path foreign = Files.createFile(folder.resolve("0000000000000000"));
        open().close();
        assertThat(foreign).doesNotExist();
        try (PageCache cache = open()) {
            assertThat(LARGE.readablePages(cache)).hasSize(6);
        }
    }

    private Path dataFileOf(TestObject object) throws IOException {
        return dataFiles().stream()
                .filter(path -> path.toFile().length() == object.size())
                .findFirst()
                .orElseThrow();
    }

    private List<Path> dataFiles() throws IOException {
        try (Stream<Path> all = Files.walk(directory.resolve("objects"))) {
            return all.filter(Files::isRegularFile).toList();
        }
    }

    private static void flipBit(Path path, long position) throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer one = ByteBuffer.allocate(1);
            file.read(one, position);
            file.write(ByteBuffer.wrap(new byte[] {(byte) (one.get(0) ^ 4)}), position);
        }
    }
}

package io.penstock.cache;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.PageCache.Environment;
import io.penstock.cache.disk.ObjectFiles;
import io.penstock.cache.disk.WholeFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files lent to a reader that bypasses the cache. */
@Timeout(60)
final class WholeFileTest {
    private static final int DISK_PAGES = 24;
    private static final TestObject OBJECT = new TestObject("object", 9L * PAGE_SIZE + 4711);

    @TempDir
    Path directory;

    private PageCache open() throws IOException {
        CacheConfig config = new CacheConfig(directory, (long) DISK_PAGES * PAGE_SIZE, 0, 8L * PAGE_SIZE);
        return PageCache.open(config, new Environment(ObjectFiles::in, System::nanoTime, 4));
    }

    private static @Nullable WholeFile lend(PageCache cache, boolean verified) {
        try (CachedObject open = OBJECT.open(cache)) {
            return open.wholeFile(verified);
        }
    }

    private static void assertContent(Path file) throws IOException {
        ByteBuffer content = ByteBuffer.wrap(Files.readAllBytes(file));
        assertThat(content).isEqualTo(OBJECT.content(0, (int) OBJECT.size()));
    }

    private static void press(PageCache cache) throws InterruptedException {
        for (int i = 0; i < 8; i++) {
            new TestObject("other-" + i, 9L * PAGE_SIZE).store(cache);
        }
    }

    @Test
    void wholeFile_ofStoredObject_isItsContentAndNoLonger() throws Exception {
        try (PageCache cache = open()) {
            OBJECT.store(cache);
            try (WholeFile file = requireNonNull(lend(cache, true))) {
                assertThat(Files.size(file.path())).isEqualTo(OBJECT.size());
                assertContent(file.path());
            }
        }
    }

    @Test
    void wholeFile_aPageMissing_isNone() throws Exception {
        try (PageCache cache = open();
                CachedObject open = OBJECT.open(cache)) {
            for (int page = 0; page < OBJECT.pages() - 1; page++) {
                OBJECT.fill(TestObject.claimed(open, page, page + 1), PAGE_SIZE);
                cache.awaitWritten(); // before the next, so that none is skipped because the disk lags
            }
            assertThat(open.isWhole()).isFalse();
            assertThat(open.wholeFile(false)).isNull();

            OBJECT.fill(TestObject.claimed(open, OBJECT.pages() - 1, OBJECT.pages()), PAGE_SIZE);
            cache.awaitWritten();
            assertThat(open.isWhole()).isTrue();
            try (WholeFile file = requireNonNull(open.wholeFile(true))) {
                assertContent(file.path());
            }
        }
    }

    @Test
    void wholeFile_ofEmptyObject_isNone() throws Exception {
        try (PageCache cache = open();
                CachedObject open = new TestObject("empty", 0).open(cache)) {
            assertThat(open.isWhole()).isFalse();
            assertThat(open.wholeFile(false)).isNull();
        }
    }

    @Test
    void fill_moreThanFitsWhileLent_leavesTheFileWithinTheBound() throws Exception {
        try (PageCache cache = open()) {
            OBJECT.store(cache);
            WholeFile again = requireNonNull(lend(cache, true));
            try (WholeFile file = requireNonNull(lend(cache, true))) {
                again.close();
                again.close();
                press(cache);
                assertContent(file.path());
                assertThat(cache.statistics().diskBytes()).isLessThanOrEqualTo((long) DISK_PAGES * PAGE_SIZE);
                assertThat(cache.statistics().evictedPages()).isPositive(); // the other objects got the rest
                assertThat(OBJECT.readablePages(cache)).hasSize(OBJECT.pages());
            }
            cache.awaitWritten();
            press(cache);
            press(cache);
            assertThat(lend(cache, true))
                    .as("given back, it goes like the others")
                    .isNull();
            assertThat(cache.statistics().diskErrors()).isZero();
        }
    }

    @Test
    void evict_givenBackButStillMapped_leavesTheMappingItsContent() throws Exception {
        try (PageCache cache = open()) {
            OBJECT.store(cache);
            ByteBuffer mapping;
            try (WholeFile file = requireNonNull(lend(cache, true))) {
                mapping = map(file.path());
            }
            press(cache);

            assertThat(OBJECT.readablePages(cache)).isEmpty();
            assertThat(mapping).isEqualTo(OBJECT.content(0, (int) OBJECT.size()));
            assertThat(cache.statistics().diskBytes()).isLessThanOrEqualTo((long) DISK_PAGES * PAGE_SIZE);
        }
    }

    @Test
    void evict_stillMappedAfterARestart_leavesItsContent() throws Exception {
        ByteBuffer mapping;
        try (PageCache cache = open()) {
            OBJECT.store(cache);
            try (WholeFile file = requireNonNull(lend(cache, true))) {
                mapping = map(file.path());
            }
        }
        open().close(); // rewrites the index from what it has read
        try (PageCache cache = open()) {
            press(cache);

            assertThat(OBJECT.readablePages(cache)).isEmpty();
            assertThat(mapping).isEqualTo(OBJECT.content(0, (int) OBJECT.size()));
        }
    }

    @Test
    void evict_whilePagesAreInMemory_removesTheFile() throws Exception {
        TestObject lent = new TestObject("lent", 14L * PAGE_SIZE); // leaves exactly the space that the object takes
        TestObject other = new TestObject("other", PAGE_SIZE);
        CacheConfig config = new CacheConfig(directory, (long) DISK_PAGES * PAGE_SIZE, 0, 64L * PAGE_SIZE);
        try (PageCache cache = PageCache.open(config, new Environment(ObjectFiles::in, System::nanoTime, 4))) {
            OBJECT.store(cache);
            Path evicted;
            try (WholeFile file = requireNonNull(lend(cache, true))) {
                evicted = file.path();
            }
            lent.store(cache);
            try (CachedObject open = lent.open(cache);
                    WholeFile file = requireNonNull(open.wholeFile(true))) {
                do {
                    cache.invalidate(TestObject.NAMESPACE, other.version());
                    other.store(cache); // until it is used more often than the object
                } while (isWhole(cache));

                assertThat(cache.statistics().diskBytes()).isBetween(lent.size(), lent.size() + other.size());
                assertThat(dataFiles()).contains(file.path()).doesNotContain(evicted);
            }
        }
    }

    private static boolean isWhole(PageCache cache) throws InterruptedException {
        cache.awaitWritten();
        try (CachedObject open = OBJECT.open(cache)) {
            return open.isWhole();
        }
    }

    private static ByteBuffer map(Path path) throws IOException {
        try (FileChannel file = FileChannel.open(path)) {
            return file.map(FileChannel.MapMode.READ_ONLY, 0, file.size());
        }
    }

    @Test
    void fill_allSpaceLent_storesNothingAndStillReads() throws Exception {
        TestObject large = new TestObject("large", (long) DISK_PAGES * PAGE_SIZE);
        try (PageCache cache = open()) {
            large.store(cache);
            try (CachedObject open = large.open(cache);
                    WholeFile file = requireNonNull(open.wholeFile(true))) {
                cache.awaitWritten();
                OBJECT.store(cache);
                assertThat(cache.statistics().unstoredPages()).isPositive();
                assertThat(ByteBuffer.wrap(Files.readAllBytes(file.path())))
                        .isEqualTo(large.content(0, (int) large.size()));
            }
            cache.awaitWritten();
            assertThat(cache.statistics().diskBytes()).isLessThanOrEqualTo((long) DISK_PAGES * PAGE_SIZE);
        }
    }

    @Test
    void invalidate_whileLent_leavesTheFileUntilItIsGivenBack() throws Exception {
        try (PageCache cache = open()) {
            OBJECT.store(cache);
            try (WholeFile file = requireNonNull(lend(cache, true))) {
                cache.invalidate(TestObject.NAMESPACE, OBJECT.version());
                cache.awaitWritten();
                assertContent(file.path());
                assertThat(lend(cache, false)).isNull();
            }
            cache.awaitWritten();
            assertThat(cache.statistics().diskBytes()).isZero();
            assertThat(dataFiles()).isEmpty();
        }
    }

    @Test
    void wholeFile_afterRestart_isLentOnceItsPagesAreVerified() throws Exception {
        try (PageCache cache = open()) {
            OBJECT.store(cache);
        }
        try (PageCache cache = open()) {
            assertThat(lend(cache, true)).isNull();
            try (WholeFile file = requireNonNull(lend(cache, false))) {
                assertContent(file.path());
            }
            try (WholeFile file = awaitLent(cache)) {
                assertContent(file.path());
            }
            assertThat(cache.statistics().corruptPages()).isZero();
        }
    }

    @Test
    void wholeFile_pageDamagedWhileDown_isNotLentUntilItIsFetchedAnew() throws Exception {
        try (PageCache cache = open()) {
            OBJECT.store(cache);
        }
        damage(dataFiles().getFirst(), 5L * PAGE_SIZE + 12345);
        try (PageCache cache = open()) {
            assertThat(lend(cache, true)).isNull();
            while (cache.statistics().corruptPages() == 0) {
                Thread.sleep(1);
            }
            assertThat(lend(cache, true)).isNull();
            assertThat(lend(cache, false)).isNull();
            assertThat(OBJECT.readablePages(cache)).doesNotContain(5).hasSize(OBJECT.pages() - 1);

            OBJECT.store(cache);
            try (WholeFile file = awaitLent(cache)) {
                assertContent(file.path());
            }
        }
    }

    @Test
    void wholeFile_changedInLength_isNotLent() throws Exception {
        try (PageCache cache = open()) {
            OBJECT.store(cache);
            try (FileChannel file = FileChannel.open(dataFiles().getFirst(), StandardOpenOption.WRITE)) {
                file.write(ByteBuffer.allocate(1), OBJECT.size());
            }
            assertThat(lend(cache, false)).isNull();
        }
    }

    @Test
    void close_whileLentAndBeingVerified_endsAtOnce() throws Exception {
        try (PageCache cache = open()) {
            OBJECT.store(cache);
        }
        WholeFile lent;
        try (PageCache cache = open()) {
            lent = requireNonNull(lend(cache, false));
            assertThat(lend(cache, true)).isNull();
        }
        lent.close();
        try (PageCache cache = open()) {
            assertThat(OBJECT.readablePages(cache))
                    .containsExactlyElementsOf(
                            IntStream.range(0, OBJECT.pages()).boxed().toList());
        }
    }

    private static WholeFile awaitLent(PageCache cache) throws InterruptedException {
        while (true) {
            WholeFile file = lend(cache, true);
            if (file != null) {
                return file;
            }
            Thread.sleep(1);
        }
    }

    private List<Path> dataFiles() throws IOException {
        try (Stream<Path> files = Files.walk(directory.resolve("objects"))) {
            return files.filter(Files::isRegularFile).toList();
        }
    }

    private static void damage(Path file, long position) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer one = ByteBuffer.allocate(1);
            channel.read(one, position);
            one.put(0, (byte) ~one.get(0)).rewind();
            channel.write(one, position);
        }
    }
}

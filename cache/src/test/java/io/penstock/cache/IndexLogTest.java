package io.penstock.cache;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.cache.IndexRecord.ObjectAdded;
import io.penstock.cache.IndexRecord.ObjectRemoved;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How the index log stays short and whole. */
@Timeout(60)
final class IndexLogTest {
    private static final long LONG = 5L << 20;
    private static final IndexRecord FIRST = new ObjectAdded(1, new ObjectId(1, 1), 1);
    private static final IndexRecord SECOND = new ObjectAdded(2, new ObjectId(2, 2), 2);
    private static final IndexRecord THIRD = new ObjectAdded(3, new ObjectId(3, 3), 3);

    @TempDir
    Path directory;

    private Path path;

    @BeforeEach
    void name() {
        path = directory.resolve("index.log");
    }

    @Test
    void append_afterATornOne_writesTheLogAnew() throws Exception {
        FileChannel channel = FileChannel.open(
                path, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
        try (IndexLog index = new IndexLog(path, channel)) {
            index.replay(none -> {}, records -> records.accept(SECOND));
            index.append(FIRST);
            channel.close(); // so that neither writing nor cutting works
            assertThatThrownBy(() -> index.append(FIRST)).isInstanceOf(ClosedChannelException.class);

            index.append(THIRD);
        }
        assertThat(replayed()).containsExactly(SECOND, THIRD);
    }

    @Test
    void append_byAThreadThatIsInterrupted_isWrittenAndPassesTheInterruptOn() throws Exception {
        try (IndexLog index = IndexLog.open(path)) {
            index.replay(none -> {}, records -> {});
            Thread.currentThread().interrupt();
            index.append(FIRST);
            assertThat(Thread.interrupted()).isTrue();
            index.append(SECOND);
        }
        assertThat(replayed()).containsExactly(FIRST, SECOND);
    }

    @Test
    void append_afterClose_leavesTheFileAlone() throws Exception {
        IndexLog index = IndexLog.open(path);
        index.replay(none -> {}, records -> {});
        index.append(FIRST);
        index.close();

        assertThatThrownBy(() -> index.append(SECOND)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> index.append(SECOND)).isInstanceOf(IOException.class);

        assertThat(replayed()).containsExactly(FIRST);
    }

    @Test
    void close_whileItIsWrittenAnew_leavesTheFolderToTheNext() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        IndexLog index = IndexLog.open(path);
        index.replay(none -> {}, records -> {
            begun.countDown();
            await(mayGoOn);
            records.accept(THIRD);
        });
        index.append(FIRST);
        Path ofTheNext = directory.resolve("index.log.new");
        try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
            Future<?> compaction = thread.submit(() -> {
                index.compact();
                return null;
            });
            await(begun);
            index.close();
            Files.writeString(ofTheNext, "the next's");
            mayGoOn.countDown();
            assertThatThrownBy(compaction::get).hasCauseInstanceOf(IOException.class);
        }
        assertThatThrownBy(() -> index.append(SECOND)).isInstanceOf(IOException.class);
        assertThat(ofTheNext).hasContent("the next's");
        assertThat(replayed()).containsExactly(FIRST);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void compactIfDue_failsOnce_keepsTheLogAndWaitsUntilItIsTwiceAsLong() throws Exception {
        try (IndexLog index = IndexLog.open(path)) {
            index.replay(none -> {}, records -> records.accept(FIRST));
            fill(index);
            Files.createDirectories(directory.resolve("index.log.new/in the way"));

            assertThat(index.isDue()).isTrue();
            assertThatThrownBy(index::compactIfDue).isInstanceOf(IOException.class);
            assertThat(index.isDue()).isFalse();
            index.append(SECOND);
        }
        assertThat(Files.size(path)).isGreaterThan(LONG);
        Files.delete(directory.resolve("index.log.new/in the way"));
        assertThat(replayed()).endsWith(SECOND);
    }

    @Test
    void store_withALogThatSaysMostlyWhatIsOver_shortensIt() throws Exception {
        TestObject object = new TestObject("object", 3L * PAGE_SIZE);
        try (IndexLog index = IndexLog.open(path)) {
            index.replay(none -> {}, records -> {});
            fill(index);
        }
        try (PageCache cache = PageCache.open(new CacheConfig(directory, 1L << 30, 0, 8L * PAGE_SIZE))) {
            object.store(cache);

            assertThat(Files.size(path)).isLessThan(LONG / 100);
            assertThat(replayed()).hasSizeBetween(2, 4); // while it is mounted, as after a kill
        }
        try (PageCache cache = PageCache.open(new CacheConfig(directory, 1L << 30, 0, 8L * PAGE_SIZE))) {
            assertThat(object.readablePages(cache)).hasSize(3);
        }
    }

    @Test
    void store_whereSomebodyHasRemovedTheFile_saysFirstThatItsPagesAreGone() throws Exception {
        TestObject object = new TestObject("object", 3L * PAGE_SIZE);
        try (PageCache cache = PageCache.open(new CacheConfig(directory, 1L << 30, 0, 8L * PAGE_SIZE))) {
            store(cache, object, 0);
            store(cache, object, 1);
            try (Stream<Path> all = Files.walk(directory.resolve("objects"))) {
                Files.delete(all.filter(Files::isRegularFile).toList().getFirst());
            }
            store(cache, object, 2);

            assertThat(replayed())
                    .extracting(entry -> entry.getClass().getSimpleName())
                    .containsExactly(
                            "ObjectAdded", "PagesStored", "PagesStored", "ObjectRemoved", "ObjectAdded", "PagesStored");
        }
    }

    private static void store(PageCache cache, TestObject object, int page) throws InterruptedException {
        try (CachedObject open = object.open(cache)) {
            object.fill(TestObject.claimed(open, page, page + 1), PAGE_SIZE);
        }
        cache.awaitWritten();
    }

    /** With records of objects that are gone. */
    private void fill(IndexLog index) throws IOException {
        for (long file = 10; Files.size(path) < LONG; file++) {
            for (int i = 0; i < 1000; i++) {
                index.append(new ObjectRemoved(file));
            }
        }
    }

    private List<IndexRecord> replayed() throws IOException {
        Path copy = directory.resolve("copy.log");
        Files.copy(path, copy);
        List<IndexRecord> records = new ArrayList<>();
        try (IndexLog index = IndexLog.open(copy)) {
            index.replay(records::add, none -> {});
        }
        return records;
    }
}

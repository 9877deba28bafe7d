package io.penstock.cache;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.disk.IndexRecord;
import io.penstock.cache.disk.IndexRecord.ObjectAdded;
import io.penstock.cache.disk.IndexRecord.ObjectLent;
import io.penstock.cache.disk.IndexRecord.ObjectPacked;
import io.penstock.cache.disk.IndexRecord.ObjectRemoved;
import io.penstock.cache.disk.IndexRecord.ObjectStreamed;
import io.penstock.cache.disk.IndexRecord.PackedDropped;
import io.penstock.cache.disk.IndexRecord.PagesDropped;
import io.penstock.cache.disk.IndexRecord.PagesStored;
import io.penstock.cache.disk.ObjectId;
import io.penstock.cache.disk.PageGeometry;
import io.penstock.disk.DataFolder;
import io.penstock.disk.LocalFolder;
import io.penstock.disk.RecordLog;
import java.io.IOException;
import java.nio.IntBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How the index stays short and correct. */
@Timeout(60)
final class IndexTest {
    private static final long LONG = 5L << 20;

    @TempDir
    Path directory;

    private Path path;
    private DataFolder files;

    @BeforeEach
    void open() throws IOException {
        path = directory.resolve("index.log");
        files = new LocalFolder(directory, _ -> true, false, null);
    }

    @Test
    void replay_ofAnIndexOfVersion0_1_0_givesItsRecords() throws Exception {
        Files.write(path, HexFormat.of().parseHex("""
            50454e5349445801
            000000218eaf9cc3010000000000000001000000000000000200000000000000030000000000000004
            00000019764edf1b0200000000000000010000002000000005000000060000000700000011
            12cc33080300000000000000010000002000000004
            00000009637fffdb050000000000000001
            00000009eff3f25f040000000000000008\
            """.replace("\n", "")));
        assertThat(replayed())
                .containsExactly(
                        new ObjectAdded(1, new ObjectId(2, 3), 4, PageGeometry.PAGES),
                        new PagesStored(1, 32, 5, IntBuffer.wrap(new int[] {6, 7})),
                        new PagesDropped(1, 32, 4),
                        new ObjectLent(1),
                        new ObjectRemoved(8));
    }

    @Test
    void replay_ofPacks_givesTheirRecords() throws Exception {
        List<IndexRecord> records = List.of(
                new ObjectAdded(1, new ObjectId(2, 3), 4L << 30, PageGeometry.PACKS),
                new ObjectPacked(1, new ObjectId(4, 5), 3L << 30, 1000, -7),
                new PackedDropped(1, new ObjectId(4, 5), 3L << 30));
        try (RecordLog<IndexRecord> index = RecordLog.create(files, "index.log", IndexRecord.FORMAT)) {
            for (IndexRecord entry : records) {
                index.append(entry);
            }
        }
        assertThat(replayed()).containsExactlyElementsOf(records);
    }

    @Test
    void replay_ofSectorsAndOfHowAnObjectWasRead_givesTheirRecords() throws Exception {
        List<IndexRecord> records = List.of(
                new ObjectAdded(1, new ObjectId(2, 3), 4, PageGeometry.PAGES),
                new ObjectStreamed(1, true),
                new ObjectAdded(5, new ObjectId(~2, 3), 4, PageGeometry.SECTORS),
                new ObjectStreamed(1, false));
        try (RecordLog<IndexRecord> index = RecordLog.create(files, "index.log", IndexRecord.FORMAT)) {
            for (IndexRecord entry : records) {
                index.append(entry);
            }
        }
        assertThat(replayed()).containsExactlyElementsOf(records);
    }

    @Test
    void store_withALogThatSaysMostlyWhatIsOver_shortensIt() throws Exception {
        TestObject object = new TestObject("object", 3L * PAGE_SIZE);
        PageCache.open(new CacheConfig(directory, 1L << 30, 0, 8L * PAGE_SIZE)).close();
        files.remove("index.log");
        try (RecordLog<IndexRecord> index = RecordLog.create(files, "index.log", IndexRecord.FORMAT)) {
            fill(index);
        }
        try (PageCache cache = PageCache.open(new CacheConfig(directory, 1L << 30, 0, 8L * PAGE_SIZE))) {
            object.store(cache);

            assertThat(Files.size(path)).isLessThan(LONG / 100);
            assertThat(replayed()).hasSizeBetween(2, 4); // while the cache is open, as after a kill
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

    /** Fills it with records of removed objects. */
    private void fill(RecordLog<IndexRecord> index) throws IOException {
        for (long file = 10; Files.size(path) < LONG; file++) {
            for (int i = 0; i < 1000; i++) {
                index.append(new ObjectRemoved(file));
            }
        }
    }

    private List<IndexRecord> replayed() throws IOException {
        List<IndexRecord> records = new ArrayList<>();
        try (RecordLog<IndexRecord> index = RecordLog.open(files, "index.log", IndexRecord.FORMAT)) {
            index.replay(records::add);
        }
        return records;
    }
}

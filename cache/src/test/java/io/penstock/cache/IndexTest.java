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
import io.penstock.core.Crc32c;
import io.penstock.disk.DataFolder;
import io.penstock.disk.LocalFolder;
import io.penstock.disk.RecordLog;
import java.io.IOException;
import java.nio.ByteBuffer;
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

    private static final List<IndexRecord> RECORDS = List.of(
            new ObjectAdded(1, new ObjectId(2, 3), 4, PageGeometry.PAGES),
            new PagesStored(1, 32, 5, IntBuffer.wrap(new int[] {6, 7})),
            new PagesDropped(1, 32, 4),
            new ObjectStreamed(1, true),
            new ObjectLent(1),
            new ObjectRemoved(8),
            new ObjectAdded(5, new ObjectId(~2, 3), 4, PageGeometry.SECTORS),
            new ObjectAdded(6, new ObjectId(2, 4), 4L << 30, PageGeometry.PACKS),
            new ObjectPacked(6, new ObjectId(4, 5), 3L << 30, 1000, -7),
            new PackedDropped(6, new ObjectId(4, 5), 3L << 30));

    /** If the checksum differs, raise the version in IndexRecord: indexes of earlier versions must not be misread. */
    @Test
    void replay_ofAllKinds_givesThemBackFromTheFormatOfThisVersion() throws Exception {
        try (RecordLog<IndexRecord> index = RecordLog.create(files, "index.log", IndexRecord.FORMAT)) {
            for (IndexRecord entry : RECORDS) {
                index.append(entry);
            }
        }
        assertThat(replayed()).containsExactlyElementsOf(RECORDS);
        assertThat(HexFormat.of().toHexDigits(Crc32c.of(ByteBuffer.wrap(Files.readAllBytes(path)))))
                .isEqualTo("0ebdeb25");
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
    void store_fileWasRemoved_recordsFirstThatItsPagesAreGone() throws Exception {
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

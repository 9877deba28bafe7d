package io.penstock.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.disk.Extent;
import io.penstock.cache.disk.IndexRecord;
import io.penstock.cache.disk.IndexRecord.ObjectAdded;
import io.penstock.cache.disk.IndexRecord.ObjectPacked;
import io.penstock.cache.disk.IndexRecord.PagesStored;
import io.penstock.cache.disk.ObjectId;
import io.penstock.cache.disk.Packs;
import io.penstock.cache.disk.PageGeometry;
import io.penstock.disk.LocalFolder;
import io.penstock.disk.RecordLog;
import java.lang.management.ManagementFactory;
import java.nio.IntBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The promise of at most 16 bytes of heap per page on disk, measured on a cache of 256 GiB without data. */
@Timeout(60)
final class HeapTest {
    private static final int PAGES = 1 << 18;
    private static final int OBJECTS = 8;
    private static final int SMALL_OBJECTS = 100_000;
    private static final int SMALL_BYTES = 64 << 10;

    @TempDir
    Path directory;

    @Test
    void open_withManyPages_takesAtMost16BytesOfHeapForEach() throws Exception {
        CacheConfig config = new CacheConfig(directory, (long) PAGES * PageCache.PAGE_SIZE, 0, 4L << 20);
        PageCache.open(config).close(); // creates the folder
        writeIndex();
        PageCache.open(config).close(); // loads the classes
        writeIndex();
        long before = usedHeap();
        try (PageCache cache = PageCache.open(config)) {
            assertThat(cache.statistics().diskBytes()).isEqualTo((long) PAGES * PageCache.PAGE_SIZE);
            cache.awaitWritten();
            double perPage = (usedHeap() - before) / (double) PAGES;
            assertThat(perPage).isBetween(4.0, 16.0); // below 4, the checksum's size, the measurement would be wrong
        }
    }

    @Test
    void open_withManySmallObjects_takesAtMost140BytesOfHeapForEach() throws Exception {
        CacheConfig config = new CacheConfig(directory, 64L << 30, 0, 4L << 20);
        PageCache.open(config).close(); // creates the folder
        writePacks();
        PageCache.open(config).close(); // loads the classes
        writePacks();
        long before = usedHeap();
        try (PageCache cache = PageCache.open(config)) {
            cache.awaitWritten();
            double perObject = (usedHeap() - before) / (double) SMALL_OBJECTS;
            assertThat(perObject).isBetween(60.0, 140.0);
            assertThat(cache.objects()).isLessThan(10);
        }
    }

    private void writePacks() throws Exception {
        LocalFolder files = new LocalFolder(directory, _ -> true, false, null);
        files.remove("index.log");
        long packBytes = Packs.bytes(Extent.MAX_PAGES);
        try (RecordLog<IndexRecord> index = RecordLog.create(files, "index.log", IndexRecord.FORMAT)) {
            index.compact(records -> {
                long inAPack = packBytes / SMALL_BYTES;
                for (long i = 0; i < SMALL_OBJECTS; i++) {
                    long pack = i / inAPack;
                    if (i % inAPack == 0) {
                        records.add(new ObjectAdded(pack, new ObjectId(1, pack), packBytes, PageGeometry.PACKS));
                    }
                    records.add(new ObjectPacked(pack, new ObjectId(2, i), i % inAPack * SMALL_BYTES, SMALL_BYTES, 0));
                }
            });
        }
    }

    private void writeIndex() throws Exception {
        LocalFolder files = new LocalFolder(directory, _ -> true, false, null);
        files.remove("index.log");
        try (RecordLog<IndexRecord> index = RecordLog.create(files, "index.log", IndexRecord.FORMAT)) {
            index.compact(records -> {
                for (int object = 0; object < OBJECTS; object++) {
                    int pages = PAGES / OBJECTS;
                    records.add(new ObjectAdded(
                            object, new ObjectId(1, object), (long) pages * PageCache.PAGE_SIZE, PageGeometry.PAGES));
                    for (int page = 0; page < pages; page += Extent.MAX_PAGES) {
                        records.add(new PagesStored(object, page, -1, IntBuffer.allocate(Extent.MAX_PAGES)));
                    }
                }
            });
        }
    }

    /** The heap that remains when garbage collection frees nothing more. */
    private static long usedHeap() {
        long used = Long.MAX_VALUE;
        while (true) {
            System.gc();
            long now = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
            if (now >= used - 10_000) {
                return Math.min(now, used);
            }
            used = now;
        }
    }
}

package io.penstock.cache;

import io.penstock.cache.IndexRecord.ObjectLent;
import io.penstock.cache.IndexRecord.ObjectStreamed;
import io.penstock.cache.IndexRecord.PagesDropped;
import io.penstock.disk.DataFile;
import io.penstock.disk.DiskHealth;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pages on disk: reads them and gives them up. No failure of the disk is an error to a reader: a page that cannot be
 * read or written is Missing. Safe for use by any number of threads.
 */
final class PageStore {
    private static final Logger log = LoggerFactory.getLogger(PageStore.class);

    private static final int READERS = 4;

    private static final long DRAIN_SECONDS = 20;

    private final DataFiles files;
    private final PageIndex index;
    private final DiskSpace space;
    private final DiskHealth health;
    private final DiskTasks tasks;
    private final ObjectTable<?> table;
    private final Counters counters;
    private final ReadTurns readTurns = new ReadTurns();

    private final ExecutorService readers = DiskTasks.threads(READERS, "penstock-load-");

    /** Others may fill the disk while nothing is written here. */
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("penstock-free-space").factory());

    PageStore(
            DataFiles files,
            PageIndex index,
            DiskSpace space,
            DiskHealth health,
            DiskTasks tasks,
            ObjectTable<?> table,
            Counters counters) {
        this.files = files;
        this.index = index;
        this.space = space;
        this.health = health;
        this.tasks = tasks;
        this.table = table;
        this.counters = counters;
    }

    ReadTurns readTurns() {
        return readTurns;
    }

    // ---- reading

    /** Whether the page can be read from disk. */
    boolean has(StoredObject object, int page) {
        Extent extent = object.extent(page);
        return extent != null && extent.has(page) && health.isWell();
    }

    /**
     * Reads from a page that is known to be right.
     *
     * @return bytes read; 0 if the page is not there any more
     */
    int read(Extent extent, int page, int offset, ByteBuffer to) {
        int wanted = Math.min(to.remaining(), extent.object().pageLength(page) - offset);
        ByteBuffer target = to.slice(to.position(), wanted);
        if (!readPinned(extent, page, offset, target, DataFile::read)) {
            return 0;
        }
        to.position(to.position() + wanted);
        return wanted;
    }

    /**
     * Reads a whole page, and verifies it if it has not been.
     *
     * @param bytes as long as the page, in aligned memory
     * @return false if it is not there or not right: then it is Missing
     */
    boolean load(Extent extent, int page, ByteBuffer bytes) {
        if (!readPinned(extent, page, 0, bytes.duplicate(), DataFile::readDirect)) {
            return false;
        }
        if (extent.isVerified(page)) {
            return true;
        }
        if (checksumOf(bytes.duplicate()) != extent.checksum(page)) {
            if (drop(extent, page)) { // by this thread: others may have read it too
                counters.corruptPages.increment();
                log.warn(
                        "A page of the cache on disk is damaged; it is fetched again. Page {} of file {}",
                        page,
                        extent.object().dataFile());
            }
            return false;
        }
        extent.setVerified(page);
        return true;
    }

    private interface Reading {
        int from(DataFile file, long position, ByteBuffer target) throws IOException;
    }

    private boolean readPinned(Extent extent, int page, int offset, ByteBuffer target, Reading reading) {
        if (!extent.pin()) {
            return false;
        }
        try {
            if (!extent.has(page)) {
                return false;
            }
            space.touch(extent);
            long position = extent.object().geometry().start(page) + offset;
            boolean whole = reading.from(files.open(extent.object()), position, target) == target.limit();
            health.succeeded();
            if (!whole) {
                counters.corruptPages.increment();
                drop(extent, page);
            }
            // A page dropped meanwhile may have been read from a file that was made anew.
            return whole && extent.has(page);
        } catch (NoSuchFileException e) {
            log.debug("Somebody has removed a file of the cache", e); // no fault of the disk
            drop(extent, page);
            return false;
        } catch (IOException e) {
            health.failed("read a page", e);
            drop(extent, page);
            return false;
        } finally {
            unpin(extent);
        }
    }

    /** Has pages read on another thread than those that write, which a reader would have to wait for. */
    void loadAhead(StoredObject object, Runnable load) {
        if (!table.retain(object)) {
            load.run();
            return;
        }
        try {
            readers.execute(() -> {
                try {
                    load.run();
                } finally {
                    table.release(object);
                }
            });
        } catch (RejectedExecutionException e) { // the cache is being closed
            load.run();
            table.release(object);
        }
    }

    void unpin(Extent extent) {
        if (extent.unpin()) {
            space.unpinned(extent);
            tasks.execute("evict", space::freeUnpinned);
        }
    }

    /** Exempts all extents of an object, which the caller has pinned, from eviction; {@link #letGo} must follow. */
    void hold(StoredObject object, List<Extent> extents) {
        if (object.setLent()) {
            index.appendSoon(new ObjectLent(object.fileName()));
        }
        tasks.execute("hold a file", () -> space.hold(extents));
    }

    void letGo(List<Extent> extents) {
        tasks.execute("let a file go", () -> space.letGo(extents));
    }

    /** How the object was read: kept with its pages. */
    void setStreamed(StoredObject object, boolean is) {
        if (object.isStreamed() != is) {
            object.setStreamed(is);
            if (object.hasFile()) { // else it is said once it has one
                index.appendSoon(new ObjectStreamed(object.fileName(), is));
            }
        }
    }

    boolean isWell() {
        return health.isWell();
    }

    private boolean drop(Extent extent, int page) {
        boolean was = extent.drop(page);
        if (was) {
            index.appendSoon(new PagesDropped(extent.object().fileName(), page, 1));
        }
        return was;
    }

    /** The object has been forgotten. */
    void removeFile(StoredObject object) {
        tasks.execute("remove a file", () -> space.removeFile(object));
    }

    /** For pages that are found to be of no use. */
    void discard(StoredObject object) {
        object.stored().extents().forEach(space::discard);
        tasks.execute("evict", space::freeUnpinned);
    }

    static int checksumOf(ByteBuffer bytes) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        return (int) checksum.getValue();
    }

    // ---- lifetime

    /** Waits until all tasks that are there now, and those that they make, are done. */
    void awaitIdle() throws InterruptedException {
        tasks.awaitIdle();
    }

    long diskErrors() {
        return health.errors();
    }

    long diskBytes() {
        return space.usedBytes();
    }

    /** Takes over what an earlier run left, makes it fit the bounds, and removes the files of no object. */
    void start(Collection<? extends StoredObject> found, Duration freeSpaceInterval) {
        for (StoredObject object : found) {
            files.setKnown(object);
            object.stored().extents().forEach(space::add);
        }
        tasks.execute("evict", space::fit);
        long nanos = freeSpaceInterval.toNanos();
        var _ = timer.scheduleWithFixedDelay(
                () -> tasks.execute("look at what is free", space::fit), nanos, nanos, TimeUnit.NANOSECONDS);
        tasks.execute("remove unknown files", files::removeUnknown);
    }

    /** Writes what waits to be written, for a bounded time. */
    void close() {
        try {
            timer.shutdownNow();
            readers.shutdown();
            if (!tasks.close(DRAIN_SECONDS)) {
                log.warn("The cache's disk is slow: what it has not taken in {} s is not kept.", DRAIN_SECONDS);
                return;
            }
            index.compact();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            health.failed("write the index", e);
        }
    }
}

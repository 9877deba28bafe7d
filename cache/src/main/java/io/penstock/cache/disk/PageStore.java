package io.penstock.cache.disk;

import io.penstock.cache.disk.IndexRecord.ObjectLent;
import io.penstock.cache.disk.IndexRecord.ObjectStreamed;
import io.penstock.cache.disk.IndexRecord.PackedDropped;
import io.penstock.cache.disk.IndexRecord.PagesDropped;
import io.penstock.core.Crc32c;
import io.penstock.disk.DataFile;
import io.penstock.disk.DirectIo;
import io.penstock.disk.DiskHealth;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pages on disk: reads and discards them. A disk failure is never an error for a reader: a page that cannot be read
 * or written is Missing. Safe for use by any number of threads.
 */
public final class PageStore {
    private static final Logger log = LoggerFactory.getLogger(PageStore.class);

    private static final int READERS = 4;

    /** Reads of at least this length from a pack bypass the kernel's page cache, and read the last block whole. */
    private static final int DIRECT_BYTES = 32 << 10;

    private final DataFiles files;
    private final PageIndex index;
    private final DiskSpace space;
    private final DiskHealth health;
    private final DiskTasks tasks;
    private final ObjectTable table;
    private final PackTable packs;
    private final Counters counters;
    private final ReadSlots slots = ReadSlots.holdingCarriers();
    private final ReadSlots directSlots = ReadSlots.direct();

    private final ExecutorService readers = DiskTasks.threads(READERS, "penstock-load-");

    public PageStore(
            DataFiles files,
            PageIndex index,
            DiskSpace space,
            DiskHealth health,
            DiskTasks tasks,
            ObjectTable table,
            PackTable packs,
            Counters counters) {
        this.files = files;
        this.index = index;
        this.space = space;
        this.health = health;
        this.tasks = tasks;
        this.table = table;
        this.packs = packs;
        this.counters = counters;
    }

    // ---- reading

    /** Where the page can be read from disk; null if it cannot. */
    public @Nullable StoredPage find(ObjectExtents object, int page) {
        if (!health.isWell()) {
            return null;
        }
        if (object.isSmall()) {
            return packs.find(object.id());
        }
        Extent extent = object.extent(page);
        return extent != null && extent.has(page) ? new StoredPage.InOwnFile(extent, page) : null;
    }

    /** Whether a small object is in a pack. */
    public boolean isPacked(ObjectId id) {
        return health.isWell() && packs.find(id) != null;
    }

    public boolean has(ObjectExtents object, int page) {
        return find(object, page) != null;
    }

    /** Whether the whole object is stored. */
    public boolean isWhole(ObjectExtents object) {
        if (object.size() == 0) {
            return false;
        }
        return object.isSmall() ? has(object, 0) : object.stored().isWhole();
    }

    /**
     * Reads from a page that is known to be intact. A virtual thread first waits for a slot.
     *
     * @return bytes read; 0 if the page is no longer there
     */
    public int read(StoredPage page, int offset, ByteBuffer to) throws InterruptedException {
        int wanted = Math.min(to.remaining(), page.length() - offset);
        int blocks = (int) DirectIo.wholeBlocks(wanted);
        boolean direct = page instanceof PackedPage
                && wanted >= DIRECT_BYTES
                && blocks <= to.remaining()
                && files.areDirect()
                && DirectIo.isAligned(page.position() + offset, to.slice(to.position(), blocks));
        ByteBuffer target = to.slice(to.position(), direct ? blocks : wanted);
        Reading reading = direct ? DataFile::readDirect : DataFile::read;
        boolean isRead = (direct ? directSlots : slots).run(() -> readPinned(page, offset, target, reading));
        if (!isRead) {
            return 0;
        }
        to.position(to.position() + wanted);
        return wanted;
    }

    /** For {@link #load}, which may block a virtual thread's carrier. */
    public ReadSlots slots() {
        return slots;
    }

    /**
     * Reads a whole page and compares it with its checksum, even if this process wrote it: a loaded page may go to
     * other nodes, which would keep wrong bytes as correct ones.
     *
     * @param bytes as long as the page, in aligned memory
     * @return false if the page is absent or damaged: then it is Missing
     */
    public boolean load(StoredPage page, ByteBuffer bytes) {
        if (!readPinned(page, 0, bytes.duplicate(), DataFile::readDirect)) {
            return false;
        }
        if (Crc32c.of(bytes) != page.checksum()) {
            if (drop(page)) { // by this thread: others may have read it too
                counters.corruptPages.increment();
                log.warn(
                        "A cached page on disk is damaged, and is fetched again: {} bytes from {} of file {}",
                        page.length(),
                        page.position(),
                        page.extent().object().dataFile());
            }
            return false;
        }
        page.setVerified();
        return true;
    }

    private interface Reading {
        int from(DataFile file, long position, ByteBuffer target) throws IOException;
    }

    private boolean readPinned(StoredPage page, int offset, ByteBuffer target, Reading reading) {
        Extent extent = page.extent();
        if (!extent.pin()) {
            return false;
        }
        try {
            if (!page.isThere()) {
                return false;
            }
            space.touch(extent);
            boolean whole =
                    reading.from(files.open(extent.object()), page.position() + offset, target) == target.limit();
            health.succeeded();
            if (!whole) {
                counters.corruptPages.increment();
                discardFile(page);
            }
            // If the page was dropped meanwhile, the bytes may come from a file that was created again.
            return whole && page.isThere();
        } catch (NoSuchFileException e) {
            log.debug("A cache file was removed by another program", e); // not a disk fault
            discardFile(page);
            return false;
        } catch (IOException e) {
            health.failed("read a page", e);
            drop(page);
            return false;
        } finally {
            unpin(extent);
        }
    }

    /**
     * Another program removed or truncated its file: no other page of the pack is trusted, and nothing more is added to
     * the pack.
     */
    private void discardFile(StoredPage page) {
        drop(page);
        if (page instanceof PackedPage packed) {
            discard(packed.extent().object());
        }
    }

    /** Loads pages on other threads than those that write, for which a reader would have to wait. */
    public void loadAhead(ObjectExtents object, Runnable load) {
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

    /** Exempts all extents of an object, which the caller has pinned, from eviction; {@link #release} must follow. */
    void hold(ObjectExtents object, List<Extent> extents) {
        if (object.setLent()) {
            index.appendSoon(new ObjectLent(object.fileName()));
        }
        tasks.execute("hold a file", () -> space.hold(extents));
    }

    void release(List<Extent> extents) {
        tasks.execute("release a file", () -> space.release(extents));
    }

    /** Records how the object was read; stored with its pages. */
    public void setReadShape(ObjectExtents object, ReadShape shape) {
        if (object.readShape() != shape) {
            object.setReadShape(shape);
            if (object.hasFile()) { // else it is recorded once it has one
                index.appendSoon(ObjectStreamed.of(object));
            }
        }
    }

    boolean isWell() {
        return health.isWell();
    }

    private boolean drop(StoredPage stored) {
        long file = stored.extent().object().fileName();
        return switch (stored) {
            case StoredPage.InOwnFile(Extent extent, int page) ->
                noted(extent.drop(page), new PagesDropped(file, page, 1));
            case PackedPage packed ->
                noted(packs.remove(packed), new PackedDropped(file, packed.id(), packed.position()));
        };
    }

    private boolean noted(boolean dropped, IndexRecord record) {
        if (dropped) {
            index.appendSoon(record);
        }
        return dropped;
    }

    /** The object has been forgotten. */
    public void removeFile(ObjectExtents object) {
        tasks.execute("remove a file", () -> space.removeFile(object));
    }

    /** Discards a small object that is no longer useful and may not be open. */
    public void discardPacked(ObjectId id) {
        PackedPage packed = packs.find(id);
        if (packed != null) {
            drop(packed);
            left(packed);
        }
    }

    /** A small object no longer lies there. */
    void left(PackedPage packed) {
        tasks.execute("evict", () -> {
            space.packedDropped(packed.extent(), packed.id());
            space.freeUnpinned();
        });
    }

    /** Discards pages that are no longer useful. */
    public void discard(ObjectExtents object) {
        object.stored().extents().forEach(space::discard);
        tasks.execute("evict", space::freeUnpinned);
    }

    /** Ends reading ahead. */
    public void close() {
        readers.shutdown();
    }
}

package io.penstock.cache.disk;

import io.penstock.cache.disk.IndexRecord.PagesStored;
import io.penstock.core.Crc32c;
import io.penstock.disk.DiskHealth;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.nio.file.Path;
import java.util.BitSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes pages to disk where there is space, and records them in the index. Safe for use by any number of threads. */
public final class PageWrites {
    private static final Logger log = LoggerFactory.getLogger(PageWrites.class);

    private final PageStore store;
    private final Packs packs;

    /** For objects that are pinned when stored: all objects in an extent are held and released together. */
    private final Packs pinnedPacks;

    private final PinTable pins;
    private final DataFiles files;
    private final PageIndex index;
    private final DiskSpace space;
    private final DiskHealth health;
    private final Counters counters;

    public PageWrites(
            PageStore store,
            Packs packs,
            Packs pinnedPacks,
            PinTable pins,
            DataFiles files,
            PageIndex index,
            DiskSpace space,
            DiskHealth health,
            Counters counters) {
        this.store = store;
        this.packs = packs;
        this.pinnedPacks = pinnedPacks;
        this.pins = pins;
        this.files = files;
        this.index = index;
        this.space = space;
        this.health = health;
        this.counters = counters;
    }

    /** Whether the disk is well enough to be written to. */
    public boolean areAllowed() {
        return health.allowsWrite();
    }

    /** Returns false if there is no space for the page. */
    public boolean write(ObjectExtents object, int page, ByteBuffer bytes) throws IOException {
        int checksum = Crc32c.of(bytes);
        boolean stored =
                object.isSmall() ? writeInPack(object, checksum, bytes) : writeInOwnFile(object, page, checksum, bytes);
        if (stored) {
            index.compactIfLarge();
            health.succeeded();
        }
        return stored;
    }

    /** Stores a small object that is in a pack again, as if it were new. */
    public void storeAgain(ObjectExtents object) {
        StoredPage page = health.allowsWrite() ? store.find(object, 0) : null;
        if (!(page instanceof PackedPage)) {
            return;
        }
        ByteBuffer bytes = ByteBuffer.allocate(page.length());
        try {
            boolean _ = store.load(page, bytes) && write(object, 0, bytes);
        } catch (IOException e) {
            health.failed("write a page", e);
        }
    }

    private boolean writeInPack(ObjectExtents object, int checksum, ByteBuffer bytes) throws IOException {
        Packs to = pins.hasPin(object.id()) ? pinnedPacks : packs;
        return to.append(
                object.id(), bytes.remaining(), checksum, (pack, position) -> writeData(pack, position, bytes));
    }

    private boolean writeInOwnFile(ObjectExtents object, int page, int checksum, ByteBuffer bytes) throws IOException {
        Extent extent = object.stored().extentForWriting(page);
        if (!extent.pin()) {
            return false; // being evicted right now
        }
        try {
            if (!space.take(extent, page)) {
                return false;
            }
            writeData(object, object.geometry().start(page), bytes);
            extent.setStored(page, checksum);
            index.append(new PagesStored(object.fileName(), page, 1, IntBuffer.wrap(new int[] {checksum})));
            return true;
        } finally {
            store.unpin(extent);
        }
    }

    private void writeData(ObjectExtents file, long position, ByteBuffer bytes) throws IOException {
        try {
            files.openForWriting(file).write(position, bytes.duplicate());
        } catch (IOException e) {
            if (!space.makeRoom(bytes.remaining())) {
                throw e;
            }
            files.openForWriting(file).write(position, bytes.duplicate());
        }
    }

    /** Takes over a file with the object's pages. Returns false if it did not become the object's file. */
    public boolean adopt(ObjectExtents object, Path source, BitSet pages, int[] checksums) {
        try {
            if (object.isSmall() || !health.allowsWrite() || !files.adopt(object, source)) {
                return false;
            }
        } catch (IOException e) { // on another file system, or one without links: not a fault of this disk
            log.debug("The file {} cannot be linked into the cache", source, e);
            return false;
        }
        try {
            for (int page = pages.nextSetBit(0); page >= 0; ) {
                Extent extent = object.stored().extentForWriting(page);
                adopt(extent, pages, checksums);
                page = pages.nextSetBit(extent.firstPage() + extent.pages());
            }
            index.compactIfLarge();
            health.succeeded();
            return true;
        } catch (IOException e) {
            health.failed("take over a written file", e);
            return true; // it is the object's file, and the pages that are not stored are Missing
        }
    }

    private void adopt(Extent extent, BitSet pages, int[] checksums) throws IOException {
        boolean pinned = extent.pin(); // else it is being evicted right now
        try {
            int end = extent.firstPage() + extent.pages();
            int stored = 0;
            IntBuffer ofStored = IntBuffer.allocate(extent.pages());
            for (int page = pages.nextSetBit(extent.firstPage()); page >= 0 && page < end; ) {
                if (pinned && space.take(extent, page)) {
                    extent.setStored(page, checksums[page]);
                    stored |= 1 << (page - extent.firstPage());
                    ofStored.put(checksums[page]);
                } else {
                    leaveOut(extent.object(), page);
                }
                page = pages.nextSetBit(page + 1);
            }
            if (stored != 0) {
                index.append(new PagesStored(extent.object().fileName(), extent.firstPage(), stored, ofStored.flip()));
            }
        } finally {
            if (pinned) {
                store.unpin(extent);
            }
        }
    }

    /** The page is in the file that was taken over, but there is no space for it. */
    private void leaveOut(ObjectExtents object, int page) throws IOException {
        counters.unstoredPages.increment();
        space.freeUncounted(object, page);
    }
}

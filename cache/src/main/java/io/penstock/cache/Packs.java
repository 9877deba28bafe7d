package io.penstock.cache;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Stores objects that are smaller than a page: one behind the other in large files, the packs (ADR 29).
 *
 * <p>A pack is an object of the cache like any other, but none that a reader knows. Its extents take space and are evicted
 * as others are, with all small objects in them; a small object lies in one extent. What is behind the last one has never
 * been written, so nothing is ever overwritten. Each process begins a pack of its own. Safe for use by any number of
 * threads.
 */
final class Packs {
    /** Extents in a pack: many, so that there are few files, which stay open. */
    private static final int EXTENTS = 128;

    /** A block of the file system. */
    private static final long ALIGNMENT = 4096;

    private final Supplier<? extends StoredObject> creation;
    private final ObjectTable<?> objects;
    private final PackTable table;
    private final PageStore store;
    private final PageIndex index;
    private final DiskSpace space;

    /** The pack to which small objects are appended, retained; null if the next one begins another. */
    @GuardedBy("this")
    private @Nullable StoredObject pack;

    /** Where the next small object may begin in it. */
    @GuardedBy("this")
    private long end;

    /** @param creation makes a pack, retained, of {@link #bytes} */
    Packs(
            Supplier<? extends StoredObject> creation,
            ObjectTable<?> objects,
            PackTable table,
            PageStore store,
            PageIndex index,
            DiskSpace space) {
        this.creation = creation;
        this.objects = objects;
        this.table = table;
        this.store = store;
        this.index = index;
        this.space = space;
    }

    static long bytes(int pagesPerExtent) {
        return PageGeometry.PACKS.start(EXTENTS * pagesPerExtent);
    }

    /** Writes the small object's bytes. */
    interface Writing {
        void to(StoredObject pack, long position) throws IOException;
    }

    /** Appends a small object. False if there is no space for it. */
    boolean append(ObjectId id, int length, int checksum, Writing writing) throws IOException {
        PackedPage page = take(id, length, checksum);
        if (page == null) {
            return false;
        }
        try {
            writing.to(page.extent().object(), page.position());
            table.put(page);
            if (PackTable.isSample(id)) {
                space.addSample(page.extent(), id);
            }
            index.append(page.toRecord());
            return true;
        } finally {
            store.unpin(page.extent());
        }
    }

    /** Takes space for a small object, and pins its extent; null if there is none. */
    private synchronized @Nullable PackedPage take(ObjectId id, int length, int checksum) throws IOException {
        Extent extent = extentFor(length);
        if (!extent.pin()) { // it is being evicted just now
            leave();
            return null;
        }
        boolean taken = false;
        try {
            taken = takePages(extent, length);
        } finally {
            if (!taken) {
                leave(); // so that it can go, where it can only go as a whole
                store.unpin(extent);
            }
        }
        if (!taken) {
            return null;
        }
        PackedPage page = new PackedPage(id, extent, end, length, checksum, true);
        end += Math.ceilDiv(length, ALIGNMENT) * ALIGNMENT;
        return page;
    }

    /** The extent in which the small object has room, from {@link #end} on. */
    @GuardedBy("this")
    private Extent extentFor(int length) {
        StoredObject current = pack;
        if (current != null) {
            long extentBytes = current.size() / EXTENTS;
            long left = extentBytes - end % extentBytes;
            end += length > left ? left : 0;
            if (end == current.size()) {
                leave();
                current = null;
            }
        }
        if (current == null) {
            current = creation.get();
            pack = current;
            end = 0;
        }
        return current.stored().extentForWriting(PageGeometry.PACKS.pageAt(end));
    }

    @GuardedBy("this")
    private void leave() {
        StoredObject left = pack;
        pack = null;
        if (left != null) {
            objects.release(left);
        }
    }

    @GuardedBy("this")
    private boolean takePages(Extent extent, int length) throws IOException {
        int last = PageGeometry.PACKS.pageAt(end + length - 1);
        for (int page = PageGeometry.PACKS.pageAt(end); page <= last; page++) {
            // Not whether it is stored: if somebody has removed the file, nothing in the page is there any more.
            if (!extent.isAllocated(page)) {
                if (!space.take(extent, page)) {
                    return false;
                }
                extent.setStored(page, 0); // each small object has a checksum of its own
            }
        }
        return true;
    }
}

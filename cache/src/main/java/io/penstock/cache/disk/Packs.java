package io.penstock.cache.disk;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.disk.DirectIo;
import java.io.IOException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Stores objects smaller than a page one after another in large files, the packs (ADR 29).
 *
 * <p>A pack is a cache object like any other, except that readers do not see it. Its extents take space and are evicted
 * like others, with all small objects in them; a small object lies within one extent. The space after the last object
 * has never been written, so nothing is ever overwritten. Each process begins a new pack. Safe for use by any number of
 * threads.
 */
public final class Packs {
    /** Extents per pack. Many, so that there are few files, which stay open. */
    private static final int EXTENTS = 128;

    private final Supplier<ObjectExtents> creation;
    private final ObjectTable objects;
    private final PackTable table;
    private final PageStore store;
    private final PageIndex index;
    private final DiskSpace space;

    /** The place for the next small object; null if it begins another pack. */
    @GuardedBy("this")
    private @Nullable Place place;

    /**
     * A place in a pack, after everything written.
     *
     * @param pack retained
     * @param extent of the place; if it is evicted, the pack is abandoned
     */
    private record Place(ObjectExtents pack, Extent extent, long position) {
        static Place in(ObjectExtents pack, long position) {
            return new Place(pack, pack.stored().extentForWriting(PageGeometry.PACKS.pageAt(position)), position);
        }

        /** The place after an object of this many bytes here; null at the pack's end. */
        @Nullable
        Place after(int length) {
            long next = position + DirectIo.wholeBlocks(length);
            return next < pack.size() ? new Place(pack, extent, next) : null;
        }

        boolean fits(int length) {
            return position + length <= end();
        }

        /** The start of the next extent; null at the pack's end. An extent with no stored page would keep the pack. */
        @Nullable
        Place atNextExtent() {
            return end() < pack.size() ? in(pack, end()) : null;
        }

        /** The end of the extent. */
        private long end() {
            return PageGeometry.PACKS.start(extent.firstPage() + extent.pages());
        }
    }

    /** @param creation creates and retains a pack of {@link #bytes} */
    public Packs(
            Supplier<ObjectExtents> creation,
            ObjectTable objects,
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

    public static long bytes(int pagesPerExtent) {
        return PageGeometry.PACKS.start(EXTENTS * pagesPerExtent);
    }

    /** Writes the small object's bytes. */
    interface Writing {
        void to(ObjectExtents pack, long position) throws IOException;
    }

    /** Appends a small object. Returns false if there is no space for it. */
    boolean append(ObjectId id, int length, int checksum, Writing writing) throws IOException {
        PackedPage page = take(id, length, checksum);
        if (page == null) {
            return false;
        }
        PackedPage before = null;
        boolean written = false;
        try {
            writing.to(page.extent().object(), page.position());
            written = true;
            before = table.put(page);
            space.addPacked(page.extent(), id);
            index.append(page.toRecord());
            return true;
        } finally {
            if (before != null) {
                store.left(before); // last: a crash before the index has the new place leaves the old one
            }
            if (!written) {
                leave(page.extent().object()); // perhaps another program removed its file
            }
            store.unpin(page.extent());
        }
    }

    /** Takes space for a small object, and pins its extent; null if there is none. */
    private synchronized @Nullable PackedPage take(ObjectId id, int length, int checksum) throws IOException {
        Place here = placeFor(length);
        Extent extent = here.extent();
        boolean taken = false;
        try {
            taken = takePages(extent, here.position(), length);
        } finally {
            if (!taken) {
                store.unpin(extent);
                leave(here.pack()); // so that it can go, if it can only go as a whole
            }
        }
        if (!taken) {
            return null;
        }
        place = here.after(length);
        if (place == null) {
            objects.release(here.pack());
        }
        return new PackedPage(id, extent, here.position(), length, checksum, true);
    }

    /** A place with room for the small object, its extent pinned. */
    @GuardedBy("this")
    private Place placeFor(int length) {
        Place here = place;
        if (here != null && !here.fits(length)) {
            here = here.atNextExtent();
        }
        if (here == null || !here.extent().pin()) {
            if (place != null) {
                leave(place.pack());
            }
            here = Place.in(creation.get(), 0);
            if (!here.extent().pin()) {
                throw new IllegalStateException("a new extent is doomed");
            }
        }
        place = here;
        return here;
    }

    /** Nothing more is appended to the pack. */
    private synchronized void leave(ObjectExtents pack) {
        if (place != null && place.pack().equals(pack)) {
            place = null;
            objects.release(pack);
        }
    }

    @GuardedBy("this")
    private boolean takePages(Extent extent, long position, int length) throws IOException {
        int last = PageGeometry.PACKS.pageAt(position + length - 1);
        for (int page = PageGeometry.PACKS.pageAt(position); page <= last; page++) {
            // Not isStored: if another program removed the file, the page has lost everything in it.
            if (!extent.isAllocated(page)) {
                if (!space.take(extent, page)) {
                    return false;
                }
                extent.setStored(page, 0); // each small object has its own checksum
            }
        }
        return true;
    }
}

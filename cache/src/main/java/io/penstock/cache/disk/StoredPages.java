package io.penstock.cache.disk;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** The extents of one object that have pages on disk, by page number. */
public final class StoredPages {
    private final ObjectExtents object;
    private final int pagesPerExtent;

    /** One slot for each possible extent of the object; null while there is no extent. Writes are guarded by this. */
    private volatile @Nullable AtomicReferenceArray<Extent> extents;

    @GuardedBy("this")
    private int count;

    StoredPages(ObjectExtents object, int pagesPerExtent) {
        this.object = object;
        this.pagesPerExtent = pagesPerExtent;
    }

    @Nullable
    Extent extent(int page) {
        AtomicReferenceArray<Extent> all = extents;
        int index = page / pagesPerExtent;
        return all == null || index >= all.length() ? null : all.get(index);
    }

    /** The page's extent, created if there is none. */
    public synchronized Extent extentForWriting(int page) {
        AtomicReferenceArray<Extent> all = extents;
        if (all == null) {
            all = new AtomicReferenceArray<>(slots());
            extents = all;
        }
        int index = page / pagesPerExtent;
        Extent extent = all.get(index);
        if (extent == null) {
            int firstPage = index * pagesPerExtent;
            extent = new Extent(object, firstPage, Math.min(pagesPerExtent, object.pageCount() - firstPage));
            all.set(index, extent);
            count++;
        }
        return extent;
    }

    synchronized void remove(Extent extent) {
        AtomicReferenceArray<Extent> all = extents;
        if (all == null || !all.compareAndSet(extent.firstPage() / pagesPerExtent, extent, null)) {
            throw new IllegalStateException("evicted twice");
        }
        count--;
        if (count == 0) {
            extents = null;
        }
    }

    /** The number of extents of a fully stored object. */
    int slots() {
        return Math.ceilDiv(object.pageCount(), pagesPerExtent);
    }

    /** Whether all of the object's pages are readable. */
    boolean isWhole() {
        AtomicReferenceArray<Extent> all = extents;
        for (int i = 0; i < slots(); i++) {
            Extent extent = all == null ? null : all.get(i);
            if (extent == null || !extent.isWhole()) {
                return false;
            }
        }
        return true;
    }

    synchronized boolean isEmpty() {
        return count == 0;
    }

    synchronized boolean isOnly(Extent extent) {
        return count == 1 && extent(extent.firstPage()) == extent;
    }

    public List<Extent> extents() {
        List<Extent> found = new ArrayList<>();
        AtomicReferenceArray<Extent> all = extents;
        for (int i = 0; all != null && i < all.length(); i++) {
            Extent extent = all.get(i);
            if (extent != null) {
                found.add(extent);
            }
        }
        return found;
    }

    // ---- while the index is replayed

    public void found(int page, int checksum) {
        extentForWriting(page).setFound(page, checksum);
    }

    public void foundDropped(int page) {
        Extent extent = extent(page);
        if (extent != null) {
            extent.drop(page);
            extent.deallocate(page);
        }
    }

    /** Called after the replay. */
    public void forgetEmpty() {
        for (Extent extent : extents()) {
            if (extent.storedPages() == 0) {
                remove(extent);
            }
        }
    }
}

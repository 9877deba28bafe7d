package io.penstock.cache;

import io.penstock.cache.PageFrame.Origin;
import io.penstock.cache.disk.ObjectExtents;
import io.penstock.cache.disk.ObjectId;
import io.penstock.cache.disk.PageGeometry;
import io.penstock.cache.disk.PageStore;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the bytes of an object version are: a snapshot, taken without touching the disk.
 *
 * @param runs from the first byte to the last; the pages of a run are in the same place
 * @param sectorBytes bytes on disk of pages that are {@link Place#SECTORS}
 */
public record Residency(List<Run> runs, long sectorBytes) {
    /** @param end the position after the last byte */
    public record Run(long offset, long end, Place place) {
        public long length() {
            return end - offset;
        }
    }

    /** Where a page is. */
    public enum Place {
        MISSING,
        /** A GET is fetching it. */
        INFLIGHT,
        MEMORY,
        DISK,
        MEMORY_AND_DISK,
        /** Some of its sectors are here, because random reads requested them. */
        SECTORS
    }

    /** Bytes on disk. */
    public long diskBytes() {
        return bytes(Place.DISK) + bytes(Place.MEMORY_AND_DISK) + sectorBytes;
    }

    /** Bytes of whole pages in memory. */
    public long memoryBytes() {
        return bytes(Place.MEMORY) + bytes(Place.MEMORY_AND_DISK);
    }

    /** The fraction of the bytes that is on disk or in memory, from 0 to 1; 1 for an empty object. */
    public double share() {
        long size = runs.isEmpty() ? 0 : runs.getLast().end();
        long here = diskBytes() + bytes(Place.MEMORY);
        return size == 0 ? 1 : (double) here / size;
    }

    private long bytes(Place place) {
        return runs.stream()
                .filter(run -> run.place() == place)
                .mapToLong(Run::length)
                .sum();
    }

    /** Without {@code pages} or {@code sectors}, nothing is here, except that a small object may be in a pack. */
    static Residency of(
            long size, PageStore store, ObjectId id, @Nullable ObjectExtents pages, @Nullable ObjectExtents sectors) {
        List<Run> runs = new ArrayList<>();
        long sectorBytes = 0;
        int page = 0;
        for (long start = 0; start < size; start = PageGeometry.PAGES.start(++page)) {
            long end = Math.min(size, PageGeometry.PAGES.start(page + 1));
            long inSectors = 0;
            Place place = pages == null ? Place.MISSING : place(pages, store, page);
            if (place == Place.MISSING && PageGeometry.isSmall(size) && store.isPacked(id)) {
                place = Place.DISK;
            } else if (place == Place.MISSING && sectors != null) {
                inSectors = bytesIn(sectors, store, start, end);
                place = inSectors > 0 ? Place.SECTORS : Place.MISSING;
            }
            sectorBytes += inSectors;
            Run last = runs.isEmpty() ? null : runs.getLast();
            if (last != null && last.place() == place) {
                runs.set(runs.size() - 1, new Run(last.offset(), end, place));
            } else {
                runs.add(new Run(start, end, place));
            }
        }
        return new Residency(List.copyOf(runs), sectorBytes);
    }

    private static Place place(ObjectExtents object, PageStore store, int page) {
        PageFrame frame = ObjectPages.frame(object, page);
        boolean stored = store.has(object, page); // after the frame: a page is marked as stored before its frame goes
        if (frame == null) {
            return stored ? Place.DISK : Place.MISSING;
        } else if (frame.isComplete()) {
            return stored ? Place.MEMORY_AND_DISK : Place.MEMORY;
        }
        return frame.origin() == Origin.STORE ? Place.INFLIGHT : Place.DISK;
    }

    private static long bytesIn(ObjectExtents sectors, PageStore store, long from, long to) {
        long bytes = 0;
        for (int sector = sectors.geometry().pageAt(from);
                sector < sectors.pageCount() && sectors.geometry().start(sector) < to;
                sector++) {
            bytes += store.has(sectors, sector) ? sectors.pageLength(sector) : 0;
        }
        return bytes;
    }
}

package io.penstock.cache.disk;

import io.penstock.cache.disk.IndexRecord.ObjectAdded;
import io.penstock.cache.disk.IndexRecord.ObjectLent;
import io.penstock.cache.disk.IndexRecord.ObjectPacked;
import io.penstock.cache.disk.IndexRecord.ObjectRemoved;
import io.penstock.cache.disk.IndexRecord.ObjectStreamed;
import io.penstock.cache.disk.IndexRecord.PackedDropped;
import io.penstock.cache.disk.IndexRecord.PagesDropped;
import io.penstock.cache.disk.IndexRecord.PagesStored;
import java.nio.IntBuffer;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Rebuilds the objects of a cache folder from its index log. Used by one thread, before other threads use the cache.
 */
public final class IndexReplay implements Consumer<IndexRecord> {
    private final int pagesPerExtent;
    private final PackTable packs;

    /** By the name of their data file. */
    private final Map<Long, ObjectExtents> objects = new LinkedHashMap<>();

    /** @param packs receives the small objects */
    public IndexReplay(int pagesPerExtent, PackTable packs) {
        this.pagesPerExtent = pagesPerExtent;
        this.packs = packs;
    }

    @Override
    public void accept(IndexRecord entry) {
        switch (entry) {
            case ObjectAdded(long file, ObjectId id, long size, PageGeometry geometry) ->
                objects.computeIfAbsent(
                        file, name -> new ObjectExtents(id, size, geometry, name, true, pagesPerExtent));
            case ObjectRemoved(long file) -> {
                ObjectExtents removed = objects.remove(file);
                if (removed != null) {
                    removed.stored().extents().forEach(packs::removeAll);
                }
            }
            case ObjectLent(long file) ->
                objects.computeIfPresent(file, (name, object) -> {
                    object.setLent();
                    return object;
                });
            case ObjectStreamed(long file, boolean is) ->
                objects.computeIfPresent(file, (name, object) -> {
                    object.setReadShape(is ? ReadShape.IN_RUNS : ReadShape.AT_RANDOM);
                    return object;
                });
            case PagesStored(long file, int firstPage, int pages, IntBuffer checksums) -> {
                ObjectExtents object = objects.get(file);
                int index = 0;
                for (int left = pages; left != 0 && object != null; left &= left - 1) {
                    int page = firstPage + Integer.numberOfTrailingZeros(left);
                    if (page < object.pageCount()) {
                        object.stored().found(page, checksums.get(index));
                    }
                    index++;
                }
            }
            case PagesDropped(long file, int firstPage, int pages) -> {
                ObjectExtents object = objects.get(file);
                Set<Extent> extents = new HashSet<>();
                for (int left = pages; left != 0 && object != null; left &= left - 1) {
                    int page = firstPage + Integer.numberOfTrailingZeros(left);
                    object.stored().foundDropped(page);
                    Extent extent = object.isPack() ? object.extent(page) : null;
                    if (extent != null) {
                        extents.add(extent);
                    }
                }
                extents.forEach(packs::removeGone);
            }
            case ObjectPacked(long file, ObjectId id, long position, int length, int checksum) -> {
                ObjectExtents pack = objects.get(file);
                if (pack != null) {
                    found(pack, id, position, length, checksum);
                }
            }
            case PackedDropped(long file, ObjectId id, long position) -> {
                PackedPage page = packs.find(id);
                if (page != null
                        && page.position() == position
                        && page.extent().object().fileName() == file) {
                    packs.remove(page);
                }
            }
        }
    }

    private void found(ObjectExtents pack, ObjectId id, long position, int length, int checksum) {
        int first = pack.geometry().pageAt(position);
        int last = pack.geometry().pageAt(position + length - 1);
        for (int page = first; page <= last; page++) {
            pack.stored().found(page, 0);
        }
        Extent extent = pack.stored().extentForWriting(first);
        if (last < extent.firstPage() + extent.pages()) { // else the cache was larger then, and so were its extents
            packs.put(new PackedPage(id, extent, position, length, checksum, false));
        }
    }

    /** The objects that have pages, in order of their records; of two files of one object, the later. */
    public Collection<ObjectExtents> objects() {
        Map<ObjectId, ObjectExtents> found = new LinkedHashMap<>();
        for (ObjectExtents object : objects.values()) {
            object.stored().forgetEmpty();
            if (!object.stored().extents().isEmpty()) {
                found.put(object.id(), object);
            }
        }
        return found.values();
    }
}

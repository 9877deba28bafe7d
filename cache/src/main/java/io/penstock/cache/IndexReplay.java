package io.penstock.cache;

import io.penstock.cache.IndexRecord.ObjectAdded;
import io.penstock.cache.IndexRecord.ObjectLent;
import io.penstock.cache.IndexRecord.ObjectRemoved;
import io.penstock.cache.IndexRecord.ObjectStreamed;
import io.penstock.cache.IndexRecord.PagesDropped;
import io.penstock.cache.IndexRecord.PagesStored;
import io.penstock.cache.ObjectPages.Shared;
import java.nio.IntBuffer;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/** Rebuilds the objects of a cache folder from its index log. Used by one thread, before anybody else is there. */
final class IndexReplay implements Consumer<IndexRecord> {
    private final Shared shared;

    /** By the name of their data file. */
    private final Map<Long, ObjectPages> objects = new LinkedHashMap<>();

    IndexReplay(Shared shared) {
        this.shared = shared;
    }

    @Override
    public void accept(IndexRecord entry) {
        switch (entry) {
            case ObjectAdded(long file, ObjectId id, long size, PageGeometry geometry) ->
                objects.computeIfAbsent(file, name -> new ObjectPages(shared, id, size, geometry, name, true));
            case ObjectRemoved(long file) -> objects.remove(file);
            case ObjectLent(long file) ->
                objects.computeIfPresent(file, (name, object) -> {
                    object.setLent();
                    return object;
                });
            case ObjectStreamed(long file, boolean is) ->
                objects.computeIfPresent(file, (name, object) -> {
                    object.setStreamed(is);
                    return object;
                });
            case PagesStored(long file, int firstPage, int pages, IntBuffer checksums) -> {
                ObjectPages object = objects.get(file);
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
                ObjectPages object = objects.get(file);
                for (int left = pages; left != 0 && object != null; left &= left - 1) {
                    object.stored().foundDropped(firstPage + Integer.numberOfTrailingZeros(left));
                }
            }
        }
    }

    /** Those that have pages, in the order in which they came; of two files of one object, the later. */
    Collection<ObjectPages> objects() {
        Map<ObjectId, ObjectPages> found = new LinkedHashMap<>();
        for (ObjectPages object : objects.values()) {
            object.stored().forgetEmpty();
            if (!object.stored().extents().isEmpty()) {
                found.put(object.id(), object);
            }
        }
        return found.values();
    }
}

package io.penstock.cache.disk;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Pages that no extent counts, but that take space until their file is removed. Guarded by {@link DiskSpace}'s monitor.
 */
final class StrandedPages {
    private final Map<ObjectExtents, BitSet> pages = new HashMap<>();
    private long bytes;

    /** The bytes that they take on disk. */
    long bytes() {
        return bytes;
    }

    void add(ObjectExtents object, IntStream stranded) {
        BitSet ofObject = pages.computeIfAbsent(object, none -> new BitSet());
        stranded.forEach(page -> {
            ofObject.set(page);
            bytes += object.allocatedBytes(page);
        });
    }

    /** True if the page was stranded; an extent counts it from now on. */
    boolean remove(ObjectExtents object, int page) {
        BitSet ofObject = pages.get(object);
        if (ofObject == null || !ofObject.get(page)) {
            return false;
        }
        ofObject.clear(page);
        bytes -= object.allocatedBytes(page);
        return true;
    }

    /** The object's file is gone. Returns the bytes that its stranded pages took. */
    long removeAll(ObjectExtents object) {
        @Nullable BitSet ofObject = pages.remove(object);
        long freed = ofObject == null
                ? 0
                : ofObject.stream().mapToLong(object::allocatedBytes).sum();
        bytes -= freed;
        return freed;
    }
}

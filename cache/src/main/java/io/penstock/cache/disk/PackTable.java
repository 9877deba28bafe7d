package io.penstock.cache.disk;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The small objects stored in packs. Safe for use by any number of threads. */
public final class PackTable {
    /** One small object in this many is a sample. */
    static final int OBJECTS_PER_SAMPLE = 4;

    private final ConcurrentHashMap<ObjectId, PackedPage> pages = new ConcurrentHashMap<>();

    private final ConcurrentHashMap<Extent, Lying> byExtent = new ConcurrentHashMap<>();

    /** The small objects of an extent. Guarded by the map's lock for the extent. */
    private static final class Lying {
        final List<PackedPage> pages = new ArrayList<>();

        /** How many of them were removed or replaced since. When they exceed half, the list is purged. */
        int gone;
    }

    private final AtomicInteger size = new AtomicInteger();

    /** Null if the object is in no pack, or its extent is about to be evicted. */
    public @Nullable PackedPage find(ObjectId id) {
        PackedPage page = pages.get(id);
        return page != null && page.isThere() ? page : null;
    }

    /**
     * The caller must have pinned the extent: if it were evicted before, the page would never be removed.
     *
     * @return the page that it replaces
     */
    public @Nullable PackedPage put(PackedPage page) {
        PackedPage before = pages.put(page.id(), page);
        if (before == null) {
            size.incrementAndGet();
        } else {
            gone(before.extent());
        }
        byExtent.compute(page.extent(), (extent, known) -> {
            Lying lying = known == null ? new Lying() : known;
            lying.pages.add(page);
            return lying;
        });
        return before;
    }

    /** Returns false if it was removed or replaced before. */
    public boolean remove(PackedPage page) {
        boolean was = pages.remove(page.id(), page);
        if (was) {
            size.decrementAndGet();
            gone(page.extent());
        }
        return was;
    }

    private void gone(Extent extent) {
        byExtent.computeIfPresent(extent, (same, lying) -> {
            lying.gone++;
            if (2 * lying.gone > lying.pages.size()) {
                lying.pages.removeIf(page -> !page.equals(pages.get(page.id())));
                lying.gone = 0;
            }
            return lying.pages.isEmpty() ? null : lying;
        });
    }

    /** The extent is evicted: removes all pages in it. */
    public void removeAll(Extent extent) {
        Lying lying = byExtent.remove(extent);
        if (lying != null) {
            lying.pages.forEach(this::remove);
        }
    }

    /** Removes the pages in the extent that are no longer stored. */
    public void removeGone(Extent extent) {
        List<PackedPage> all = new ArrayList<>();
        byExtent.computeIfPresent(extent, (same, lying) -> {
            all.addAll(lying.pages);
            return lying;
        });
        all.stream().filter(page -> !page.isThere()).forEach(this::remove);
    }

    /** Whether the small object is a sample. Samples identify an evicted extent when they are stored in another one. */
    static boolean isSample(ObjectId id) {
        return id.low() % OBJECTS_PER_SAMPLE == 0;
    }

    /** The samples in the extent. */
    List<ObjectId> samples(Extent extent) {
        List<ObjectId> samples = new ArrayList<>();
        byExtent.computeIfPresent(extent, (same, lying) -> {
            lying.pages.stream().map(PackedPage::id).filter(PackTable::isSample).forEach(samples::add);
            return lying;
        });
        return samples;
    }

    /** Whether the extent has any small object. */
    boolean hasAny(Extent extent) {
        return byExtent.containsKey(extent);
    }

    /** Whether the extent has such an object; examines all of them. */
    boolean hasAny(Extent extent, Predicate<ObjectId> which) {
        boolean[] has = new boolean[1];
        byExtent.computeIfPresent(extent, (same, lying) -> {
            has[0] = lying.pages.stream().anyMatch(page -> which.test(page.id()) && page.equals(find(page.id())));
            return lying;
        });
        return has[0];
    }

    int size() {
        return size.get();
    }

    Iterable<PackedPage> all() {
        return pages.values();
    }
}

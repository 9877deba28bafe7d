package io.penstock.cache;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The small objects that lie in packs. Safe for use by any number of threads. */
final class PackTable {
    /** Of so many small objects one is a sample. */
    static final int OBJECTS_PER_SAMPLE = 4;

    private final ConcurrentHashMap<ObjectId, PackedPage> pages = new ConcurrentHashMap<>();

    /** Those of each extent, with some that were removed or replaced since. */
    private final ConcurrentHashMap<Extent, List<PackedPage>> byExtent = new ConcurrentHashMap<>();

    private final AtomicInteger size = new AtomicInteger();

    /** Null if the object is in no pack, or its extent is about to be evicted. */
    @Nullable
    PackedPage find(ObjectId id) {
        PackedPage page = pages.get(id);
        return page != null && page.isThere() ? page : null;
    }

    /** For those who have pinned the extent: else it might be evicted before, and nobody would remove the page. */
    void put(PackedPage page) {
        if (pages.put(page.id(), page) == null) {
            size.incrementAndGet();
        }
        byExtent.compute(page.extent(), (extent, known) -> {
            List<PackedPage> all = known == null ? new ArrayList<>() : known;
            all.add(page);
            return all;
        });
    }

    /** False if it was removed or replaced before. */
    boolean remove(PackedPage page) {
        boolean was = pages.remove(page.id(), page);
        if (was) {
            size.decrementAndGet();
        }
        return was;
    }

    /** The extent is evicted: all that lies in it goes. */
    void removeAll(Extent extent) {
        List<PackedPage> gone = byExtent.remove(extent);
        if (gone != null) {
            gone.forEach(this::remove);
        }
    }

    /** Removes what is not there any more of what lies in it. */
    void removeGone(Extent extent) {
        byExtent.computeIfPresent(extent, (same, all) -> {
            all.stream().filter(page -> !page.isThere()).forEach(this::remove);
            all.removeIf(page -> !page.isThere());
            return all.isEmpty() ? null : all;
        });
    }

    /**
     * Whether the small object is one of those that stand for the extent in which they lie, when it has been evicted and
     * they are stored again, in another one.
     */
    static boolean isSample(ObjectId id) {
        return id.low() % OBJECTS_PER_SAMPLE == 0;
    }

    /** The samples that lie in the extent. */
    List<ObjectId> samples(Extent extent) {
        List<ObjectId> samples = new ArrayList<>();
        byExtent.computeIfPresent(extent, (same, all) -> {
            all.stream().map(PackedPage::id).filter(PackTable::isSample).forEach(samples::add);
            return all;
        });
        return samples;
    }

    /** Whether there is such an object among those that lie in the extent. */
    boolean hasAny(Extent extent, Predicate<ObjectId> which) {
        boolean[] has = new boolean[1];
        byExtent.computeIfPresent(extent, (same, all) -> {
            has[0] = all.stream().anyMatch(page -> which.test(page.id()) && page.equals(find(page.id())));
            return all;
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

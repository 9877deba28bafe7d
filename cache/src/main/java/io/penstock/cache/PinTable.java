package io.penstock.cache;

import java.util.concurrent.ConcurrentHashMap;

/** The object versions that must not be evicted. Safe for use by any number of threads; {@link Pins} changes it. */
final class PinTable {
    /** The number of reasons for which each is pinned: its pin, and each {@link Pins.Session}. */
    private final ConcurrentHashMap<ObjectId, Integer> reasons = new ConcurrentHashMap<>();

    /** True if the version was not pinned before. Each call is followed by one of {@link #remove}. */
    boolean add(ObjectId id) {
        return reasons.merge(id, 1, Integer::sum) == 1;
    }

    /** True if the version is not pinned any more. */
    boolean remove(ObjectId id) {
        return reasons.computeIfPresent(id, (_, count) -> count == 1 ? null : count - 1) == null;
    }

    boolean contains(ObjectId id) {
        return reasons.containsKey(id);
    }

    boolean isEmpty() {
        return reasons.isEmpty();
    }
}

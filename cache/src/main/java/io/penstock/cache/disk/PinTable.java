package io.penstock.cache.disk;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The object versions that must not be evicted; {@link Pins} changes it. Safe for use by any number of threads. */
public final class PinTable {
    /** Maximum heap for a pin: its entries in this table and in {@link Pins}. */
    private static final int BYTES_EACH = 600;

    /** All pins may take one part in this many of the heap. */
    private static final int HEAP_SHARE = 8;

    private final long most = Runtime.getRuntime().maxMemory() / HEAP_SHARE / BYTES_EACH;

    /** The number of reasons why each is pinned: its pin, and each {@link Pins.Session}. */
    private final ConcurrentHashMap<ObjectId, Integer> reasons = new ConcurrentHashMap<>();

    /** Those with a pin, not only a session. */
    private final Set<ObjectId> lasting = ConcurrentHashMap.newKeySet();

    /** True if the version was not pinned before. Each call must be followed by one of {@link #remove}. */
    boolean add(ObjectId id) {
        return reasons.merge(id, 1, Integer::sum) == 1;
    }

    /** True if the version is no longer pinned. */
    boolean remove(ObjectId id) {
        return reasons.computeIfPresent(id, (_, count) -> count == 1 ? null : count - 1) == null;
    }

    /** Records that it has a pin, in addition to {@link #add}. */
    void pin(ObjectId id) {
        lasting.add(id);
    }

    void unpin(ObjectId id) {
        lasting.remove(id);
    }

    /** Whether it has a pin, not only a session that fetches it. */
    boolean hasPin(ObjectId id) {
        return lasting.contains(id);
    }

    boolean contains(ObjectId id) {
        return reasons.containsKey(id);
    }

    boolean isEmpty() {
        return reasons.isEmpty();
    }

    /** How many more versions the heap has room for. */
    long left() {
        return Math.max(0, most - reasons.size());
    }

    boolean isFull() {
        return left() == 0;
    }
}

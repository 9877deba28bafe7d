package io.penstock.cache.disk;

import io.penstock.disk.DataFile;
import java.io.IOException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The objects that are open or have pages in the cache; all others are forgotten. References to an object are counted
 * under the map's lock for its key. So finding and retaining an object is one step, and so is forgetting an unused one.
 */
@SuppressWarnings("ReferenceEquality") // Checks for the identical object.
public final class ObjectTable {
    private static final Logger log = LoggerFactory.getLogger(ObjectTable.class);

    private final ConcurrentHashMap<ObjectId, ObjectExtents> objects = new ConcurrentHashMap<>();

    private final Consumer<ObjectExtents> forgotten;

    /** @param forgotten called with each object that can no longer be found, except by {@link #forgetIfOnly}; its file must be removed */
    public ObjectTable(Consumer<ObjectExtents> forgotten) {
        this.forgotten = forgotten;
    }

    /** The object with this id, created if it is not known. */
    public ObjectExtents retain(ObjectId id, Supplier<ObjectExtents> creation) {
        return objects.compute(id, (same, known) -> {
            ObjectExtents object = known != null ? known : creation.get();
            object.retained();
            return object;
        });
    }

    public @Nullable ObjectExtents find(ObjectId id) {
        return objects.get(id);
    }

    /** Adds an object of an earlier run. */
    public void add(ObjectExtents object) {
        objects.put(object.id(), object);
    }

    /** Returns false if the object has been forgotten. Each true must be followed by one {@link #release}. */
    public boolean retain(ObjectExtents object) {
        return object
                == objects.computeIfPresent(object.id(), (id, known) -> {
                    if (known == object) {
                        known.retained();
                    }
                    return known;
                });
    }

    public void release(ObjectExtents object) {
        @Nullable DataFile[] unused = new @Nullable DataFile[1];
        objects.computeIfPresent(object.id(), (id, known) -> {
            unused[0] = known.released();
            return forgetIfUnused(known);
        });
        close(unused[0]);
    }

    /** Closes a file that is no longer in use, if there is one. */
    static void close(@Nullable DataFile unused) {
        try (unused) {
            log.trace("{} is no longer used", unused);
        } catch (IOException e) {
            log.debug("A data file could not be closed", e);
        }
    }

    /** Whether any thread except the caller, which has retained it, has the object open or works on it. */
    boolean isUsedByOthers(ObjectExtents object) {
        boolean[] used = new boolean[1];
        objects.computeIfPresent(object.id(), (id, known) -> {
            used[0] = object.references() > 1;
            return known;
        });
        return used[0];
    }

    /** Call after removing a frame or an extent of the object. */
    public void forgetIfUnusedNow(ObjectExtents object) {
        objects.computeIfPresent(object.id(), (id, known) -> known == object ? forgetIfUnused(known) : known);
    }

    /** True if only this extent kept the object, which is forgotten now; the caller must remove its file. */
    boolean forgetIfOnly(ObjectExtents object, Extent extent) {
        boolean[] isForgotten = new boolean[1];
        objects.computeIfPresent(object.id(), (id, known) -> {
            isForgotten[0] = known == object && object.isHeldOnlyBy(extent);
            return isForgotten[0] ? null : known;
        });
        return isForgotten[0];
    }

    private @Nullable ObjectExtents forgetIfUnused(ObjectExtents object) {
        if (object.isInUse()) {
            return object;
        }
        forgotten.accept(object);
        return null;
    }

    public int size() {
        return objects.size();
    }

    Iterable<ObjectExtents> all() {
        return objects.values();
    }
}

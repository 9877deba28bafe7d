package io.penstock.cache.disk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lends the files of objects that are stored whole. A lease pins all extents, which keeps the file unchanged. It also
 * exempts them from eviction, because the policy does not see how much they are read.
 */
public final class WholeFiles {
    private static final Logger log = LoggerFactory.getLogger(WholeFiles.class);

    private final DataFiles files;
    private final ObjectTable table;
    private final PageStore store;
    private final Verifier verifier;

    public WholeFiles(DataFiles files, ObjectTable table, PageStore store) {
        this.files = files;
        this.table = table;
        this.store = store;
        this.verifier = new Verifier(store, table);
    }

    /**
     * The object's file.
     *
     * @param verified whether all pages must be known to be intact; pages not known to be are then checked in the
     *     background
     * @return null if it cannot be lent now
     */
    public @Nullable WholeFile lend(ObjectExtents object, boolean verified) {
        if (object.pageCount() == 0 || !object.stored().isWhole() || !store.isWell() || !table.retain(object)) {
            return null;
        }
        List<Extent> extents = pinAll(object);
        Path path = files.path(object);
        if (extents.size() == object.stored().slots()
                && isAllowed(object, extents, verified)
                && hasRightLength(path, object)) {
            store.hold(object, extents);
            return new WholeFile(this, object, extents, path);
        }
        unpin(object, extents);
        return null;
    }

    /** A pinned extent loses pages only through damage. */
    private static List<Extent> pinAll(ObjectExtents object) {
        List<Extent> pinned = new ArrayList<>(object.stored().slots());
        for (Extent extent : object.stored().extents()) {
            if (extent.pin()) {
                pinned.add(extent);
            }
        }
        return pinned;
    }

    private boolean isAllowed(ObjectExtents object, List<Extent> extents, boolean verified) {
        if (!extents.stream().allMatch(Extent::isWhole)) {
            return false;
        }
        if (verified && !extents.stream().allMatch(Extent::isVerified)) {
            verifier.verify(object);
            return false;
        }
        return true;
    }

    private static boolean hasRightLength(Path path, ObjectExtents object) {
        try {
            long length = Files.size(path);
            if (length == object.size()) {
                return true;
            }
            log.warn(
                    "{} has {} bytes instead of its object's {}: has another program changed the cache folder? It"
                            + " is not passed to the kernel.",
                    path,
                    length,
                    object.size());
        } catch (IOException e) {
            log.debug("{} cannot be passed to the kernel: {}", path, e.toString());
        }
        return false;
    }

    void takeBack(ObjectExtents object, List<Extent> extents) {
        store.release(extents);
        unpin(object, extents);
    }

    private void unpin(ObjectExtents object, List<Extent> extents) {
        extents.forEach(store::unpin);
        table.release(object);
    }

    /** Stops running checks. Files that are still lent stay as they are. */
    public void close() {
        verifier.close();
    }
}

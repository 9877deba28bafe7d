package io.penstock.inventory;

import static java.time.temporal.ChronoUnit.SECONDS;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.StoredObject;
import java.nio.file.Path;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A row: one version of an object; null for missing values.
 *
 * @param number counted from 1 in the file
 * @param isCurrent whether a listing shows it: it is the latest version and not a delete marker
 * @param size in bytes
 * @param etag in Inventory's form
 */
record InventoryRow(
        long number,
        String bucket,
        String key,
        boolean isCurrent,
        @Nullable Long size,
        @Nullable Instant lastModified,
        @Nullable String etag,
        @Nullable String storageClass) {

    private static final String STANDARD = "STANDARD";

    /** The object as in a listing: its time in whole seconds, because HEAD has no finer time. */
    StoredObject object(Path file) throws IndexException {
        if (size == null) {
            throw damaged(file, Column.SIZE);
        } else if (lastModified == null) {
            throw damaged(file, Column.LAST_MODIFIED);
        } else if (etag == null || etag.isEmpty()) {
            throw damaged(file, Column.ETAG);
        }
        try {
            return new StoredObject(
                    new ObjectVersion(key, ETags.fromInventory(etag), size, lastModified.truncatedTo(SECONDS)),
                    storageClass == null || storageClass.isEmpty() ? STANDARD : storageClass);
        } catch (IllegalArgumentException e) {
            throw IndexException.damaged(file, number, e);
        }
    }

    private IndexException damaged(Path file, Column column) {
        return IndexException.damaged(
                file, number, new IllegalArgumentException("the key '" + key + "' has no " + column.inCsv));
    }
}

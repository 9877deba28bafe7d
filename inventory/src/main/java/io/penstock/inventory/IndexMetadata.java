package io.penstock.inventory;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The notes of {@link IndexWriter} in a file, beside the columns of S3 Inventory, as key-value metadata of Parquet.
 *
 * @param listedAt when the listing began; null if it is unknown
 * @param prefix the beginning of all listed keys
 */
record IndexMetadata(@Nullable Instant listedAt, String prefix) {
    private static final String LISTED_AT = "penstock.listed-at";
    private static final String PREFIX = "penstock.prefix";

    /** The notes of a file; empty if it is not one of Penstock's. */
    static IndexMetadata of(Map<String, String> entries) {
        return new IndexMetadata(parse(entries.get(LISTED_AT)), entries.getOrDefault(PREFIX, ""));
    }

    private static @Nullable Instant parse(@Nullable String time) {
        try {
            return time == null ? null : Instant.parse(time);
        } catch (DateTimeException e) {
            return null; // another program's
        }
    }

    Map<String, String> entries() {
        return listedAt == null ? Map.of(PREFIX, prefix) : Map.of(LISTED_AT, listedAt.toString(), PREFIX, prefix);
    }
}

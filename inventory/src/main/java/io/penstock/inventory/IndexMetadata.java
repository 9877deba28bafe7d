package io.penstock.inventory;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The notes that {@link IndexWriter} adds to a file, as key-value metadata of Parquet.
 *
 * @param listedAt when the listing began; null if it is unknown
 * @param prefix of all listed keys
 */
record IndexMetadata(@Nullable Instant listedAt, String prefix) {
    private static final String LISTED_AT = "penstock.listed-at";
    private static final String PREFIX = "penstock.prefix";

    /** The notes in a file; empty if Penstock did not write it. */
    static IndexMetadata of(Map<String, String> entries) {
        return new IndexMetadata(parse(entries.get(LISTED_AT)), entries.getOrDefault(PREFIX, ""));
    }

    private static @Nullable Instant parse(@Nullable String time) {
        try {
            return time == null ? null : Instant.parse(time);
        } catch (DateTimeException e) {
            return null; // written by another program
        }
    }

    Map<String, String> entries() {
        return listedAt == null ? Map.of(PREFIX, prefix) : Map.of(LISTED_AT, listedAt.toString(), PREFIX, prefix);
    }
}

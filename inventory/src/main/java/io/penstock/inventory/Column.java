package io.penstock.inventory;

import java.nio.file.Path;
import java.util.Set;

/**
 * The S3 Inventory columns that are read, with their names in the schema of CSV files and in Parquet files ("Amazon S3
 * Inventory list" in the S3 User Guide).
 */
enum Column {
    BUCKET("Bucket", "bucket"),
    KEY("Key", "key"),
    IS_LATEST("IsLatest", "is_latest"),
    IS_DELETE_MARKER("IsDeleteMarker", "is_delete_marker"),
    SIZE("Size", "size"),
    LAST_MODIFIED("LastModifiedDate", "last_modified_date"),
    ETAG("ETag", "e_tag"),
    STORAGE_CLASS("StorageClass", "storage_class");

    /** Also the name in the configuration of an Inventory. */
    final String inCsv;

    final String inParquet;

    Column(String inCsv, String inParquet) {
        this.inCsv = inCsv;
        this.inParquet = inParquet;
    }

    /** @param file the file with these columns, for the message */
    static void checkNeeded(Set<Column> present, Path file) throws IndexException {
        for (Column column : values()) {
            switch (column) {
                case BUCKET, KEY -> {
                    if (!present.contains(column)) {
                        throw new IndexException("'" + file + "' is not an S3 Inventory list: it has no column "
                                + column.inCsv + " (" + column.inParquet + " in Parquet)");
                    }
                }
                case SIZE, LAST_MODIFIED, ETAG -> {
                    if (!present.contains(column)) {
                        throw new IndexException("'" + file + "' has no column " + column.inCsv + " ("
                                + column.inParquet + " in Parquet): add " + column.inCsv
                                + " to the optional fields of the Inventory's configuration, and use its next report");
                    }
                }
                case IS_LATEST, IS_DELETE_MARKER, STORAGE_CLASS -> {}
            }
        }
    }
}

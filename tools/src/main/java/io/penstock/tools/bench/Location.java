package io.penstock.tools.bench;

/**
 * A measured location.
 *
 * @param kind its kind, in JSON
 * @param name the bucket, or a path; for a mount that the benchmark makes, the bucket
 * @param title the heading of its rows
 * @param note a remark on all of them; may be empty
 */
record Location(Kind kind, String name, String title, String note) {
    Location(Kind kind, String name, String title) {
        this(kind, name, title, "");
    }

    enum Kind {
        BUCKET,
        DISK,
        MOUNT,
        FOLDER
    }
}

package io.penstock.tools.bench;

/**
 * A measured place.
 *
 * @param kind in JSON
 * @param name the bucket, or a path; of a mount that the benchmark makes for itself, the bucket
 * @param title above its rows
 * @param note on all of them; may be empty
 */
record Place(Kind kind, String name, String title, String note) {
    Place(Kind kind, String name, String title) {
        this(kind, name, title, "");
    }

    enum Kind {
        BUCKET,
        DISK,
        MOUNT,
        FOLDER
    }
}

package io.penstock.cli.bench;

/**
 * What is measured.
 *
 * @param kind in JSON
 * @param name the bucket, or a path; of a mount that the benchmark makes for itself, the bucket
 * @param title above its rows
 * @param note what is to be known of all of them; empty if nothing is
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

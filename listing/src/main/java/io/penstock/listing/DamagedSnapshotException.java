package io.penstock.listing;

import java.io.IOException;
import java.nio.file.Path;

/** A snapshot is damaged, or belongs to another bucket, and must be deleted. The message is for the user. */
final class DamagedSnapshotException extends IOException {
    private static final long serialVersionUID = 1L;

    /** @param why the end of the message, such as {@code "is empty"} */
    DamagedSnapshotException(Path file, String why) {
        super("the snapshot " + file + " " + why);
    }
}

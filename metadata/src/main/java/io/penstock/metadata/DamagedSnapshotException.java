package io.penstock.metadata;

import java.io.IOException;
import java.nio.file.Path;

/** A snapshot is not whole, or not of what it is wanted for: it is to be dropped. The message is fit for the user. */
final class DamagedSnapshotException extends IOException {
    private static final long serialVersionUID = 1L;

    /** @param why what is said of it, such as {@code "is empty"} */
    DamagedSnapshotException(Path file, String why) {
        super("the snapshot " + file + " " + why);
    }
}

package io.penstock.fuse.table;

import java.io.IOException;
import java.nio.file.Path;

/** A table is not as it was written, or of another version. */
public final class DamagedTableException extends IOException {
    private static final long serialVersionUID = 1L;

    DamagedTableException(Path file, String finding) {
        super(file + " is damaged: " + finding);
    }
}

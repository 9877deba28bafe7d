package io.penstock.disk;

import java.io.IOException;
import java.nio.file.Path;

/** A log is not as it was written, or of another version. */
public final class DamagedLogException extends IOException {
    private static final long serialVersionUID = 1L;

    public DamagedLogException(Path file, String finding) {
        super(file + " is damaged: " + finding);
    }
}

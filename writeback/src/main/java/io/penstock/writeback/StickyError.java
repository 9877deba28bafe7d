package io.penstock.writeback;

import io.penstock.objectstore.ObjectStoreException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** What failed behind the back of a program, until one of its calls has reported it. Guarded by the file's lock. */
final class StickyError {
    private @Nullable Exception error;

    /** The first is kept: what follows follows from it. */
    void set(Exception failure) {
        if (error == null) {
            error = failure;
        }
    }

    boolean isSet() {
        return error != null;
    }

    void clear() {
        error = null;
    }

    /** Throws it, and forgets it. */
    void report() throws ObjectStoreException, IOException {
        Exception reported = error;
        error = null;
        switch (reported) {
            case null -> {}
            case ObjectStoreException e -> throw e;
            case IOException e -> throw e;
            default -> throw new IOException(reported.getMessage(), reported);
        }
    }
}

package io.penstock.objectstore;

import java.io.IOException;

/** A body came whole, but its checksum says that its bytes are wrong. */
final class DamagedBodyException extends IOException {
    private static final long serialVersionUID = 1;

    DamagedBodyException(RuntimeException cause) {
        super(cause.getMessage(), cause);
    }
}

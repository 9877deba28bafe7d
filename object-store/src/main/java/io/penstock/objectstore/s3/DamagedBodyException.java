package io.penstock.objectstore.s3;

import java.io.IOException;

/** A body arrived complete, but its bytes do not match its checksum. */
final class DamagedBodyException extends IOException {
    private static final long serialVersionUID = 1;

    DamagedBodyException(String message) {
        super(message);
    }

    DamagedBodyException(RuntimeException cause) {
        super(cause.getMessage(), cause);
    }
}

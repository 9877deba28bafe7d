package io.penstock.objectstore;

import java.io.IOException;

/** A body arrived whole, but its checksum does not match its bytes. */
final class DamagedBodyException extends IOException {
    private static final long serialVersionUID = 1;

    DamagedBodyException(String message) {
        super(message);
    }

    DamagedBodyException(RuntimeException cause) {
        super(cause.getMessage(), cause);
    }
}

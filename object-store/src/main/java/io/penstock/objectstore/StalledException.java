package io.penstock.objectstore;

import java.io.IOException;

/**
 * A response to a GET has not gone on for long: the missing bytes are to be requested on another connection, at once.
 */
final class StalledException extends IOException {
    private static final long serialVersionUID = 1;

    StalledException() {
        super("the response stalled, and is requested again");
    }
}

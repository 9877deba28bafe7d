package io.penstock.objectstore;

import java.io.IOException;

/**
 * A response to a GET has sent nothing for long: the missing bytes must be requested on another connection immediately.
 */
final class StalledException extends IOException {
    private static final long serialVersionUID = 1;

    StalledException() {
        super("the response stalled, and is requested again");
    }
}

package io.penstock.objectstore;

import java.io.IOException;

/** The response is no page of a listing, or not all of one. */
final class UnreadableListingException extends IOException {
    private static final long serialVersionUID = 1;

    UnreadableListingException(String message) {
        super(message);
    }
}

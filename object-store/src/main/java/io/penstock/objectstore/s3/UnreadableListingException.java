package io.penstock.objectstore.s3;

import java.io.IOException;

/** The response is not a page of a listing, or only a part of one. */
final class UnreadableListingException extends IOException {
    private static final long serialVersionUID = 1;

    UnreadableListingException(String message) {
        super(message);
    }
}

package io.penstock.cli;

/** Something that the user asked for and that cannot be done; the message says why and what to do. */
final class RefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    RefusedException(String message) {
        super(message);
    }
}

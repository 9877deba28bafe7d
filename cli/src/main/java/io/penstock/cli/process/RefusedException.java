package io.penstock.cli.process;

/** Something that the user asked for and that cannot be done; the message says why and what to do. */
public final class RefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    public RefusedException(String message) {
        super(message);
    }
}

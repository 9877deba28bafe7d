package io.penstock.settings.process;

/** A user's request cannot be carried out; the message gives the cause and the remedy. */
public final class RefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    public RefusedException(String message) {
        super(message);
    }
}

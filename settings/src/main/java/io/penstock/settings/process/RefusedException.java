package io.penstock.settings.process;

/** A request of the user cannot be carried out; the message has the cause and the remedy. */
public final class RefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    public RefusedException(String message) {
        super(message);
    }
}

package io.penstock.cache;

/** The fill that a reader waited for has failed. The cause is the one passed to {@link Fill#fail}. */
public final class FillFailedException extends Exception {
    private static final long serialVersionUID = 1L;

    FillFailedException(Exception cause) {
        super(cause.getMessage(), cause);
    }
}

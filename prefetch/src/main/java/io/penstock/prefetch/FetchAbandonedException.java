package io.penstock.prefetch;

import org.jspecify.annotations.Nullable;

/**
 * Why the pages of a fill did not come, though no demand for them failed: it was readahead, whose failure is nobody's
 * error, or it was cancelled. Whoever waits for them asks again, for itself.
 */
final class FetchAbandonedException extends Exception {
    private static final long serialVersionUID = 1L;

    FetchAbandonedException(@Nullable Exception cause) {
        super("the fetch was given up", cause);
    }
}

package io.penstock.prefetch;

import org.jspecify.annotations.Nullable;

/**
 * The pages of a fill did not arrive, but no demand fetch failed: a readahead failed, or the fetch was cancelled. A
 * waiting reader requests the pages again.
 */
final class FetchAbandonedException extends Exception {
    private static final long serialVersionUID = 1L;

    FetchAbandonedException(@Nullable Exception cause) {
        super("the fetch was abandoned", cause);
    }
}

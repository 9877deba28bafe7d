package io.penstock.metadata;

import java.time.Duration;

/** The progress of the listing of the whole bucket, for a display. */
public sealed interface PreloadState {
    /** There is no listing, or it has expired. */
    enum None implements PreloadState {
        NONE
    }

    /**
     * The listing is running.
     *
     * @param objects listed so far
     * @param share estimated share of the key space, 0 to 1
     * @param since how long it has run
     */
    record Listing(long objects, double share, Duration since) implements PreloadState {}

    /**
     * The listing is used for lookups.
     *
     * @param objects in the listing
     * @param ago how long ago it was complete
     */
    record Known(long objects, Duration ago) implements PreloadState {}
}

package io.penstock.metadata;

import java.time.Duration;

/** How far the listing of the whole bucket is: for who watches the mount. */
public sealed interface PreloadState {
    /** There is none, or what it said is not believed any more. */
    enum None implements PreloadState {
        NONE
    }

    /**
     * It is under way.
     *
     * @param objects that have come so far
     * @param share of the keys that can be: an estimate, 0 to 1
     * @param since how long it has been
     */
    record Listing(long objects, double share, Duration since) implements PreloadState {}

    /**
     * Names are answered from it.
     *
     * @param objects that it has
     * @param ago how long ago it was complete
     */
    record Known(long objects, Duration ago) implements PreloadState {}
}

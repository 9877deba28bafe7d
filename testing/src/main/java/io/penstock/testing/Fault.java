package io.penstock.testing;

import io.penstock.objectstore.ObjectStoreException;
import org.jspecify.annotations.Nullable;

/** The failure of a call. */
public sealed interface Fault {
    /** The call fails once {@code bytes} of its body have been delivered or sent (0: before anything was). */
    record Fail(long bytes, Kind kind) implements Fault {}

    /** The call succeeds, but its response is lost: it fails nevertheless. */
    record FailAfterwards(Kind kind) implements Fault {}

    /** The call hangs once {@code bytes} of its body have been delivered or sent, until interrupted or the store closed. */
    record Stall(long bytes) implements Fault {}

    /** The call fails with this kind before anything was delivered: {@code fail(Throttled::new)}. */
    static Fault fail(Kind kind) {
        return new Fail(0, kind);
    }

    /** The call fails with this kind after it has succeeded in the store: its response is lost. */
    static Fault failAfterwards(Kind kind) {
        return new FailAfterwards(kind);
    }

    /** A constructor of one of the exceptions. */
    @FunctionalInterface
    interface Kind {
        ObjectStoreException make(String message, @Nullable Throwable cause);
    }
}

package io.penstock.testing;

import io.penstock.objectstore.ObjectStoreException;
import org.jspecify.annotations.Nullable;

/** The failure of a call. */
public sealed interface Fault {
    /** The call fails once {@code bytes} of its body have been delivered or sent (0: before any were). */
    record Fail(long bytes, Kind kind) implements Fault {}

    /** The call succeeds but still fails for the caller, because its response is lost. */
    record FailAfterwards(Kind kind) implements Fault {}

    /** Hangs once {@code bytes} of the body have been delivered or sent, until interrupted or the store closes. */
    record Stall(long bytes) implements Fault {}

    /** The call fails with this kind before any bytes are delivered: {@code fail(Throttled::new)}. */
    static Fault fail(Kind kind) {
        return new Fail(0, kind);
    }

    /** The call succeeds in the store, then fails with this kind because its response is lost. */
    static Fault failAfterwards(Kind kind) {
        return new FailAfterwards(kind);
    }

    /** A constructor of one of the exceptions. */
    @FunctionalInterface
    interface Kind {
        ObjectStoreException make(String message, @Nullable Throwable cause);
    }
}

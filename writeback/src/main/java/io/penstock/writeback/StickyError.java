package io.penstock.writeback;

import io.penstock.objectstore.ObjectStoreException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A failure in the background that sticks until a call of the program has reported it. Guarded by the file's lock. */
final class StickyError {
    private static final String NO_ROOM = "memory and staging are full of data that cannot be committed";

    private final FileState state;

    private @Nullable Exception error;

    /** The error that remains after {@link #error} was reported. */
    private @Nullable Exception permanent;

    /** The changes reported by a call as not stored. */
    private long reported;

    StickyError(FileState state) {
        this.state = state;
    }

    /** Keeps the first failure: later ones are its consequences. */
    void set(Exception failure) {
        if (error == null) {
            error = failure;
        }
    }

    /** Nothing can fix it: every caller receives it. */
    void setPermanent(Exception failure) {
        error = failure;
        permanent = failure;
    }

    boolean isSet() {
        return error != null;
    }

    /** The error that the next call must report; null if there is none. */
    @Nullable
    Exception unreported() {
        return error;
    }

    /** The remaining error, if no call has reported one since the last change; null otherwise. */
    @Nullable
    Exception unheard() {
        return reported < state.changes() ? permanent : null;
    }

    void clear() {
        error = null;
        permanent = null;
    }

    private @Nullable Exception take(boolean toProgram) {
        Exception taken = error;
        reported = taken == null || !toProgram ? reported : state.changes();
        error = permanent;
        return taken;
    }

    /** Why no more of the file can be written: this error, which then counts as reported, or else a lack of space. */
    IOException refusal(String key) {
        return switch (take(true)) {
            case null -> refusal(key, new ObjectStoreException.OutOfSpace(NO_ROOM, null));
            case ObjectStoreException e -> refusal(key, e);
            case IOException e -> e;
            case Exception e -> new IOException(e.getMessage(), e);
        };
    }

    private static IOException refusal(String key, ObjectStoreException cause) {
        return new IOException("'" + key + "' cannot be written: " + cause.getMessage(), cause);
    }

    /**
     * Throws the error and forgets it.
     *
     * @param toProgram whether a program receives it; if not, it remains {@link #unheard}
     */
    void report(boolean toProgram) throws ObjectStoreException, IOException {
        Exception reported = take(toProgram);
        switch (reported) {
            case null -> {}
            case ObjectStoreException e -> throw e;
            case IOException e -> throw e;
            default -> throw new IOException(reported.getMessage(), reported);
        }
    }
}

package io.penstock.metadata;

import io.penstock.objectstore.StoredObject;
import java.io.IOException;
import java.time.Instant;

/** A listing of all objects below a prefix, made by another program. Used by one thread. */
public interface ObjectIndex {
    /** When the listing began. */
    Instant asOf();

    /**
     * Passes all objects to the receiver, in any order. If several have the same key, the one modified last is valid.
     *
     * @throws IOException with a message for the user if the index cannot be read
     */
    void read(Receiver receiver) throws IOException, InterruptedException;

    /** Receives the objects. */
    @FunctionalInterface
    interface Receiver {
        void receive(StoredObject object) throws InterruptedException;
    }
}

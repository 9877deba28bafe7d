package io.penstock.metadata;

import io.penstock.objectstore.StoredObject;
import java.io.IOException;
import java.time.Instant;

/** All objects below a prefix as somebody else has listed them. Used by one thread. */
public interface ObjectIndex {
    /** When the listing was begun. */
    Instant asOf();

    /**
     * Hands out all objects, in any order. Of those that have one key the one that was modified last counts.
     *
     * @throws IOException with a message for the user if it cannot be read
     */
    void read(Receiver receiver) throws IOException, InterruptedException;

    /** Takes what is read. */
    @FunctionalInterface
    interface Receiver {
        void receive(StoredObject object) throws InterruptedException;
    }
}

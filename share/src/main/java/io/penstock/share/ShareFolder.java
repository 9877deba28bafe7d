package io.penstock.share;

import java.io.IOException;
import java.time.Instant;
import java.util.Map;

/** A folder of empty objects whose names are the addresses of nodes. Safe for use by any number of threads. */
public interface ShareFolder {
    /** The names without the folder's, and when each was last put there, by the store's clock. */
    Map<String, Instant> list() throws IOException, InterruptedException;

    /**
     * Puts a name there, or renews it.
     *
     * @param name of letters, digits, {@code .}, {@code -} and {@code _}
     */
    void put(String name) throws IOException, InterruptedException;

    /** Does nothing if the name is not there. */
    void remove(String name) throws IOException, InterruptedException;
}

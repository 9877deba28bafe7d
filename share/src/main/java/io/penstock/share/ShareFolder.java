package io.penstock.share;

import java.io.IOException;
import java.time.Instant;
import java.util.Map;

/** A folder of empty objects whose names say where nodes are. Safe for use by any number of threads. */
public interface ShareFolder {
    /** The names without the folder's own, and when each was put there last, by the clock of the store. */
    Map<String, Instant> list() throws IOException, InterruptedException;

    /**
     * Puts a name there, or puts it there again.
     *
     * @param name of letters, digits, {@code .}, {@code -} and {@code _}
     */
    void put(String name) throws IOException, InterruptedException;

    /** Does nothing if it is not there. */
    void remove(String name) throws IOException, InterruptedException;
}

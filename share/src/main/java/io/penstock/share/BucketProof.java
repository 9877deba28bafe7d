package io.penstock.share;

import java.io.IOException;

/**
 * Shows other nodes that this node may read the bucket, and checks what they show. Safe for use by any number of threads.
 */
public interface BucketProof {
    /**
     * A request to the bucket that its store accepts from the holder, without the store having been asked. A group uses it for
     * some minutes.
     *
     * @return printable ASCII without line ends
     */
    String make() throws IOException, InterruptedException;

    /** Whether it is about this bucket and about this key, by what it says itself. Asks nobody. */
    boolean covers(String proof, String key);

    /**
     * Whether this node's own store accepts it now.
     *
     * @throws IOException if the store cannot be asked
     */
    boolean holds(String proof) throws IOException, InterruptedException;
}

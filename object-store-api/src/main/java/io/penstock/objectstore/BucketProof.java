package io.penstock.objectstore;

/**
 * Shows another node of a cache group that this node may read the bucket, without giving it the credentials: this node
 * signs a list request for one key, and the other node sends it. Safe for use by any number of threads.
 */
public interface BucketProof {
    /** The longest proof in ASCII characters, given the header sizes that servers accept. */
    int LONGEST = 8_000;

    /**
     * A proof for this mount's bucket and prefix. It is valid for 15 minutes, or until its credentials expire.
     *
     * @throws ObjectStoreException if there are no credentials
     */
    String make() throws ObjectStoreException, InterruptedException;

    /**
     * Whether the proof claims a right to this mount's bucket and to this key in it. Sends no request, so it can be
     * called for each request of a peer, whatever the peer sends.
     *
     * @param key an object's key
     */
    boolean covers(String proof, String key);

    /**
     * Whether the proof's maker has the right that it claims. Asks the store if the proof is for this very bucket, and
     * sends no request otherwise, so it can be called with whatever a peer sends.
     *
     * @return false if it is not such a proof, or if the store refuses it
     * @throws ObjectStoreException if the store does not respond or does not decide (429, 5xx): the proof may be valid
     */
    boolean holds(String proof) throws ObjectStoreException, InterruptedException;
}

package io.penstock.objectstore;

/**
 * Shows another node of a cache group that this one may read the bucket, without giving it the credentials: a list request of
 * one key that this node has signed, and the other makes. Safe for use by any number of threads.
 */
public interface BucketProof {
    /** The longest proof, in ASCII characters: as long as servers take a header. */
    int LONGEST = 8_000;

    /**
     * A proof for this mount's bucket and prefix. It holds for 15 minutes, or until its credentials expire.
     *
     * @throws ObjectStoreException if there are no credentials
     */
    String make() throws ObjectStoreException, InterruptedException;

    /**
     * Whether it claims a right to this mount's bucket where the key lies. Sends no request: it can be called for each
     * request of a peer, with whatever that sends.
     *
     * @param key an object's key
     */
    boolean covers(String proof, String key);

    /**
     * Whether its maker has the right that it claims. It asks the store where the proof is for this very bucket, and
     * sends no request where it is not: it can be called with whatever a peer sends.
     *
     * @return false if it is no such proof, or if the store refuses it
     * @throws ObjectStoreException if the store does not respond, or does not decide (429, 5xx): the proof may hold
     */
    boolean holds(String proof) throws ObjectStoreException, InterruptedException;
}

package io.penstock.filesystem.names;

/** When O_EXCL (open(2)) is enforced between all clients that write to the bucket. */
public enum Exclusive {
    /**
     * By the commit: close(2) or fsync(2) fails with ESTALE if another client was faster. The open sends no request,
     * and is exclusive on this mount only.
     */
    CLOSE,
    /** By the store: the open creates the empty object, for one PUT, or fails with EEXIST if there is an object. */
    STORE
}

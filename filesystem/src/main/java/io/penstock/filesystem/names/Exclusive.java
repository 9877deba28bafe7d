package io.penstock.filesystem.names;

/** When an open with O_CREAT and O_EXCL is decided, among all that write the bucket: open(2). */
public enum Exclusive {
    /**
     * By the commit: close(2) or fsync(2) is ESTALE where another client was faster. The open sends no request, and is
     * exclusive on this mount alone.
     */
    CLOSE,
    /** By the store: the open makes the empty object if there is none, for one PUT, and is EEXIST if there is one. */
    STORE
}

package io.penstock.filesystem;

/** Whether the kernel may read the cache's own files directly, if all of an object is in one. */
public enum Passthrough {
    /** It reads everything through the file system. */
    OFF,
    /** Once every page has been written or checked by this process. */
    VERIFIED,
    /** As soon as the file is whole, even if an earlier process wrote it: later damage by the disk is not detected. */
    TRUSTING
}

package io.penstock.filesystem;

/** Whether the kernel may read the cache's own files itself, where all of an object is in one. */
public enum Passthrough {
    /** It reads everything through the file system. */
    OFF,
    /** Once every page has been written or checked by this process. */
    VERIFIED,
    /**
     * As soon as the file is whole, also if an earlier process wrote it: damage by the disk since then is not found.
     */
    TRUSTING
}

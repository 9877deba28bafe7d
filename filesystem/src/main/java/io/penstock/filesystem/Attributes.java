package io.penstock.filesystem;

import java.time.Instant;

/**
 * What stat(2) shows.
 *
 * @param inode the inode's number
 * @param mode type and permission bits, as in st_mode
 * @param links st_nlink
 * @param size bytes
 * @param modified mtime, and ctime and atime with it
 * @param validNanos for how long from now this, and that the name is there, may be believed, in nanoseconds
 */
public record Attributes(
        long inode, int mode, int links, int uid, int gid, long size, Instant modified, long validNanos) {
    /** st_mode's type bits of a directory: stat(2). */
    public static final int S_IFDIR = 0040000;

    /** st_mode's type bits of a regular file: stat(2). */
    public static final int S_IFREG = 0100000;

    static final int S_IFMT = 0170000;

    public boolean isDirectory() {
        return (mode & S_IFMT) == S_IFDIR;
    }
}

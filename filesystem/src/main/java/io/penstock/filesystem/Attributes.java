package io.penstock.filesystem;

import io.penstock.metadata.attributes.FileKind;
import java.time.Instant;

/**
 * The attributes shown by stat(2).
 *
 * @param inode the inode's number
 * @param mode type and permission bits, as in st_mode
 * @param links st_nlink
 * @param size bytes; for a symbolic link, those of its target
 * @param modified mtime
 * @param accessed atime: as it was set, else the time of the last change, since reads are not tracked
 * @param changed ctime
 * @param device the number of a device, st_rdev; 0 for everything else
 * @param validNanos how long these attributes and the name's existence are valid from now, in nanoseconds
 * @param number st_ino: the inode's number, or that of the file that it was just linked to
 */
public record Attributes(
        long inode,
        int mode,
        int links,
        int uid,
        int gid,
        long size,
        Instant modified,
        Instant accessed,
        Instant changed,
        int device,
        long validNanos,
        long number) {
    /** st_mode's type bits for a directory: stat(2). */
    public static final int S_IFDIR = 0040000;

    /** st_mode's type bits for a regular file: stat(2). */
    public static final int S_IFREG = 0100000;

    static final int S_IFMT = FileKind.TYPE_BITS;

    /** The size in bytes of the blocks of st_blocks, whatever st_blksize is: stat(2). */
    private static final int BLOCK = 512;

    /** The same as one of two names of the file with this number, now. */
    Attributes linked(long number) {
        return new Attributes(inode, mode, 2, uid, gid, size, modified, accessed, changed, device, 0, number);
    }

    public boolean isDirectory() {
        return (mode & S_IFMT) == S_IFDIR;
    }

    /** st_blocks: the number of 512-byte blocks that the size fills. */
    public long blocks() {
        return (size + BLOCK - 1) / BLOCK;
    }
}

package io.penstock.filesystem;

/** open(2)'s flags, from include/uapi/asm-generic/fcntl.h: these are the same on x86-64 and aarch64. */
final class OpenFlags {
    static final int O_RDONLY = 0;
    static final int O_WRONLY = 1;
    static final int O_CREAT = 0100;
    static final int O_EXCL = 0200;
    static final int O_TRUNC = 01000;
    static final int O_APPEND = 02000;

    /** Also a bit of O_SYNC. */
    static final int O_DSYNC = 010000;

    private static final int O_ACCMODE = 3;

    private OpenFlags() {}

    /** Whether writing is allowed. */
    static boolean isWrite(int flags) {
        return (flags & O_ACCMODE) != 0;
    }

    /** Whether the open itself, or what it allows, changes something: such a handle counts as a writer. */
    static boolean isChange(int flags) {
        return (flags & (O_ACCMODE | O_CREAT | O_TRUNC)) != 0;
    }
}

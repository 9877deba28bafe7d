package io.penstock.fuse.kernel;

/**
 * What INIT settled.
 *
 * @param minor of the protocol: 7.minor
 * @param maxRequest bytes that one request reads or writes at most
 * @param flags the bits of FUSE_INIT_EXT and before in the lower half, flags2 in the upper
 */
record Agreement(int minor, int maxRequest, long flags) {
    /** Linux 6.6: "fuse: invalidate page cache pages before direct write". */
    private static final int DIRECT_WRITES_DROP_PAGES = 39;

    /** Linux 6.18: FUSE_NOTIFY_PRUNE in include/uapi/linux/fuse.h. */
    private static final int PRUNES = 45;

    /** Whether what is written with FOPEN_DIRECT_IO drops the kernel's pages of it. */
    boolean dropsPagesOfDirectWrites() {
        return minor >= DIRECT_WRITES_DROP_PAGES;
    }

    /** Whether the kernel can be asked to forget an inode if nobody uses it. */
    boolean prunes() {
        return minor >= PRUNES;
    }

    /** Whether the kernel collects what is written before it sends it. */
    boolean writesBack() {
        return (flags & Handshake.WRITEBACK_CACHE) != 0;
    }

    /** Whether the kernel may be given files to read by itself. */
    boolean passesThrough() {
        return (flags & Handshake.PASSTHROUGH) != 0;
    }
}

package io.penstock.fuse.kernel;

/**
 * The result of INIT.
 *
 * @param minor the minor protocol version: 7.minor
 * @param maxRequest maximum bytes that one request reads or writes
 * @param flags the bits up to FUSE_INIT_EXT in the lower half, flags2 in the upper
 */
record NegotiatedInit(int minor, int maxRequest, long flags) {
    /** Linux 6.6: "fuse: invalidate page cache pages before direct write". */
    private static final int DIRECT_WRITES_DROP_PAGES = 39;

    /** Linux 6.18: FUSE_NOTIFY_PRUNE in include/uapi/linux/fuse.h. */
    private static final int PRUNES = 45;

    /** Whether a write with FOPEN_DIRECT_IO drops the kernel's pages of the written range. */
    boolean dropsPagesOfDirectWrites() {
        return minor >= DIRECT_WRITES_DROP_PAGES;
    }

    /** Whether the kernel can be asked to forget an unused inode. */
    boolean prunes() {
        return minor >= PRUNES;
    }

    /** Whether the kernel collects written data before it sends it. */
    boolean writesBack() {
        return (flags & Handshake.WRITEBACK_CACHE) != 0;
    }

    /** Whether the kernel sends unanswered requests again, to another process. */
    boolean resends() {
        return (flags & Handshake.HAS_RESEND) != 0;
    }

    /** Whether the kernel supports passthrough. */
    boolean passesThrough() {
        return (flags & Handshake.PASSTHROUGH) != 0;
    }
}

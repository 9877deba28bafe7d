package io.penstock.fuse.kernel;

/**
 * The structs of the kernel's FUSE protocol: include/uapi/linux/fuse.h, protocol 7.31 to 7.45, one class for each, with
 * the same name. Constants are byte offsets of fields; numbers have the machine's byte order. Structs that grew in
 * later versions have 7.31's size, which all kernels accept.
 */
final class Layouts {
    /** Precedes every request. */
    static final class InHeader {
        static final int LEN = 0;
        static final int OPCODE = 4;
        static final int UNIQUE = 8;
        static final int NODEID = 16;
        static final int UID = 24;
        static final int GID = 28;
        static final int PID = 32;
        /** u16, in units of 8 bytes: the extensions after the body. */
        static final int TOTAL_EXTLEN = 36;

        static final int SIZE = 40;
    }

    /** Precedes every reply. */
    static final class OutHeader {
        static final int LEN = 0;
        /** An error number negated, or 0. */
        static final int ERROR = 4;

        static final int UNIQUE = 8;
        static final int SIZE = 16;
    }

    static final class InitIn {
        static final int MAJOR = 0;
        static final int MINOR = 4;
        static final int MAX_READAHEAD = 8;
        static final int FLAGS = 12;
        /** Only with INIT_EXT among the flags. */
        static final int FLAGS2 = 16;
        /** Until 7.35. */
        static final int SHORT_SIZE = 16;

        static final int SIZE = 64;
    }

    static final class InitOut {
        static final int MAJOR = 0;
        static final int MINOR = 4;
        static final int MAX_READAHEAD = 8;
        static final int FLAGS = 12;
        /** u16. */
        static final int MAX_BACKGROUND = 16;
        /** u16. */
        static final int CONGESTION_THRESHOLD = 18;

        static final int MAX_WRITE = 20;
        /** Nanoseconds. */
        static final int TIME_GRAN = 24;
        /** u16. */
        static final int MAX_PAGES = 28;

        static final int FLAGS2 = 32;
        static final int MAX_STACK_DEPTH = 36;
        static final int SIZE = 64;
    }

    static final class Attr {
        static final int INO = 0;
        static final int SIZE_FIELD = 8;
        /** In units of 512 bytes. */
        static final int BLOCKS = 16;

        static final int ATIME = 24;
        static final int MTIME = 32;
        static final int CTIME = 40;
        static final int ATIMENSEC = 48;
        static final int MTIMENSEC = 52;
        static final int CTIMENSEC = 56;
        static final int MODE = 60;
        static final int NLINK = 64;
        static final int UID = 68;
        static final int GID = 72;
        static final int RDEV = 76;
        static final int BLKSIZE = 80;
    }

    static final class EntryOut {
        /** 0 for a negative entry, which is cached for ENTRY_VALID. */
        static final int NODEID = 0;

        static final int ENTRY_VALID = 16;
        static final int ATTR_VALID = 24;
        static final int ENTRY_VALID_NSEC = 32;
        static final int ATTR_VALID_NSEC = 36;
        static final int ATTR = 40;
        static final int SIZE = 128;
    }

    static final class AttrOut {
        static final int ATTR_VALID = 0;
        static final int ATTR_VALID_NSEC = 8;
        static final int ATTR = 16;
        static final int SIZE = 104;
    }

    static final class SetattrIn {
        static final int VALID = 0;
        /** Only if FATTR_FH is set. */
        static final int FH = 8;

        static final int SIZE_FIELD = 16;
        static final int ATIME = 32;
        static final int MTIME = 40;
        static final int ATIMENSEC = 56;
        static final int MTIMENSEC = 60;
        static final int MODE = 68;
        static final int UID = 76;
        static final int GID = 80;

        // Bits of VALID.
        static final int FATTR_MODE = 1;
        static final int FATTR_UID = 1 << 1;
        static final int FATTR_GID = 1 << 2;
        static final int FATTR_SIZE = 1 << 3;
        static final int FATTR_ATIME = 1 << 4;
        static final int FATTR_MTIME = 1 << 5;
        static final int FATTR_FH = 1 << 6;
        static final int FATTR_ATIME_NOW = 1 << 7;
        static final int FATTR_MTIME_NOW = 1 << 8;
        static final int FATTR_CTIME = 1 << 10;
        /** For programs without CAP_FSETID; always if the owner changes. */
        static final int FATTR_KILL_SUIDGID = 1 << 11;
    }

    static final class ForgetIn {
        static final int NLOOKUP = 0;
    }

    static final class BatchForgetIn {
        static final int COUNT = 0;
        static final int SIZE = 8;
    }

    /** COUNT of them follow batch_forget_in. */
    static final class ForgetOne {
        static final int NODEID = 0;
        static final int NLOOKUP = 8;
        static final int SIZE = 16;
    }

    static final class AccessIn {
        static final int MASK = 0;
    }

    /** Also for OPENDIR. */
    static final class OpenIn {
        static final int FLAGS = 0;
        static final int OPEN_FLAGS = 4;

        /** A bit of OPEN_FLAGS: with O_TRUNC, from a program without CAP_FSETID. */
        static final int FUSE_OPEN_KILL_SUIDGID = 1;
    }

    static final class OpenOut {
        static final int FH = 0;
        static final int OPEN_FLAGS = 8;
        static final int BACKING_ID = 12;
        static final int SIZE = 16;

        // Bits of OPEN_FLAGS.
        static final int FOPEN_DIRECT_IO = 1;
        static final int FOPEN_KEEP_CACHE = 1 << 1;
        /** The kernel may cache the listing; FOPEN_KEEP_CACHE tells whether its cached listing is still valid. */
        static final int FOPEN_CACHE_DIR = 1 << 3;
        /** No FLUSH at close. Since Linux 5.16; earlier kernels ignore it. */
        static final int FOPEN_NOFLUSH = 1 << 5;

        /** Needs FOPEN_DIRECT_IO. Since Linux 6.2. */
        static final int FOPEN_PARALLEL_DIRECT_WRITES = 1 << 6;

        static final int FOPEN_PASSTHROUGH = 1 << 7;
    }

    /** A name follows. The reply is entry_out and open_out. */
    static final class CreateIn {
        static final int FLAGS = 0;
        static final int MODE = 4;
        static final int SIZE = 16;
    }

    /** Also for READDIR and READDIRPLUS. */
    static final class ReadIn {
        static final int FH = 0;
        static final int OFFSET = 8;
        static final int SIZE_FIELD = 16;
        static final int SIZE = 40;
    }

    /** The bytes follow. */
    static final class WriteIn {
        static final int FH = 0;
        static final int OFFSET = 8;
        static final int SIZE_FIELD = 16;
        static final int WRITE_FLAGS = 20;
        /** open(2)'s flags at the time of this write. */
        static final int FLAGS = 32;

        static final int SIZE = 40;

        /** A bit of WRITE_FLAGS: written from the kernel's pages, long after the program wrote. */
        static final int FUSE_WRITE_CACHE = 1;

        /** A bit of WRITE_FLAGS: from a program without CAP_FSETID. */
        static final int FUSE_WRITE_KILL_SUIDGID = 1 << 2;
    }

    static final class WriteOut {
        static final int SIZE_FIELD = 0;
        static final int SIZE = 8;
    }

    /** Also for RELEASEDIR. */
    static final class ReleaseIn {
        static final int FH = 0;
    }

    static final class FlushIn {
        static final int FH = 0;
    }

    /** Also for FSYNCDIR. */
    static final class FsyncIn {
        static final int FH = 0;
    }

    static final class LseekIn {
        static final int FH = 0;
        static final int OFFSET = 8;
        static final int WHENCE = 16;
    }

    static final class LseekOut {
        static final int OFFSET = 0;
        static final int SIZE = 8;
    }

    /** The reply is write_out. */
    static final class CopyFileRangeIn {
        static final int FH_IN = 0;
        static final int OFF_IN = 8;
        static final int FH_OUT = 24;
        static final int OFF_OUT = 32;
        static final int LEN = 40;
        static final int FLAGS = 48;
    }

    /** The name follows, padded with zeros to a multiple of 8. */
    static final class Dirent {
        static final int INO = 0;
        static final int OFF = 8;
        static final int NAMELEN = 16;
        /** st_mode's type, shifted down. */
        static final int TYPE = 20;

        static final int NAME = 24;
    }

    /** {@code struct fuse_kstatfs}. */
    static final class StatfsOut {
        static final int BLOCKS = 0;
        static final int BFREE = 8;
        static final int BAVAIL = 16;
        static final int BSIZE = 40;
        static final int NAMELEN = 44;
        static final int FRSIZE = 48;
        static final int SIZE = 80;
    }

    /** A name follows. */
    static final class MknodIn {
        static final int MODE = 0;
        static final int RDEV = 4;
        static final int SIZE = 16;
    }

    /** A name follows. */
    static final class MkdirIn {
        static final int MODE = 0;
        static final int SIZE = 8;
    }

    /** Two names follow. */
    static final class RenameIn {
        static final int NEWDIR = 0;
        static final int SIZE = 8;
    }

    /** Two names follow. */
    static final class Rename2In {
        static final int NEWDIR = 0;
        static final int FLAGS = 8;
        static final int SIZE = 16;
    }

    /** A name follows. */
    static final class LinkIn {
        static final int OLDNODEID = 0;
        static final int SIZE = 8;
    }

    /** A name follows, except for LISTXATTR. */
    static final class GetxattrIn {
        static final int SIZE_FIELD = 0;
        static final int SIZE = 8;
    }

    /** The reply to a request whose SIZE is 0. */
    static final class GetxattrOut {
        static final int SIZE_FIELD = 0;
        static final int SIZE = 8;
    }

    /** The form without SETXATTR_EXT. A name and the value follow. */
    static final class SetxattrIn {
        static final int SIZE_FIELD = 0;
        static final int FLAGS = 4;
        static final int SIZE = 8;
    }

    static final class FallocateIn {
        static final int FH = 0;
        static final int OFFSET = 8;
        static final int LENGTH = 16;
        static final int MODE = 24;
    }

    static final class InterruptIn {
        static final int UNIQUE = 0;
    }

    /** {@code struct iovec} for writev(2). */
    static final class Iovec {
        static final int BASE = 0;
        static final int LENGTH = 8;
        static final int SIZE = 16;
    }

    /** {@code struct fuse_backing_map} for an ioctl on the device. */
    static final class BackingMap {
        static final int FD = 0;
        static final int SIZE = 16;
    }

    /** No reply: the header's ERROR is the code, its UNIQUE 0. */
    static final class NotifyInvalInodeOut {
        static final int CODE = 2;

        static final int INO = 0;
        /** The first byte to drop; if negative, no bytes are dropped. */
        static final int OFF = 8;

        static final int SIZE = 24;
    }

    /** No reply: the header's ERROR is the code, its UNIQUE 0. The name follows, with its NUL. */
    static final class NotifyInvalEntryOut {
        static final int CODE = 3;

        static final int PARENT = 0;
        /** Without the NUL. */
        static final int NAMELEN = 8;

        static final int SIZE = 16;
    }

    /** No reply: the header's ERROR is the code, its UNIQUE 0. The inode numbers follow. */
    static final class NotifyPruneOut {
        static final int CODE = 9;

        static final int COUNT = 0;

        static final int SIZE = 16;
    }

    /** No reply: the header's ERROR is the code, its UNIQUE 0. No body. Since Linux 6.9. */
    static final class NotifyResend {
        static final int CODE = 7;
    }

    private Layouts() {}
}

package io.penstock.fuse.calls;

import java.util.Locale;

/** The kernel's calls to a mount. A binding that has several calls for one of these counts them together. */
public enum KernelCall {
    LOOKUP,
    GETATTR,
    SETATTR,
    ACCESS,
    READLINK,
    OPEN,
    CREATE,
    READ,
    WRITE,
    FLUSH,
    FSYNC,
    RELEASE,
    LSEEK,
    FALLOCATE,
    COPY_FILE_RANGE,
    OPENDIR,
    READDIR,
    READDIRPLUS,
    FSYNCDIR,
    RELEASEDIR,
    MKNOD,
    MKDIR,
    UNLINK,
    RMDIR,
    RENAME,
    LINK,
    SYMLINK,
    GETXATTR,
    LISTXATTR,
    SETXATTR,
    REMOVEXATTR,
    STATFS;

    private final String label = name().toLowerCase(Locale.ROOT);

    /** The name in statistics, metrics and the access log: {@code copy_file_range}. */
    public String label() {
        return label;
    }
}

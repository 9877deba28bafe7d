package io.penstock.core;

/**
 * The error numbers in Penstock's replies, with Linux's values (include/uapi/asm-generic/errno-base.h and errno.h),
 * which are the same on x86-64 and aarch64.
 */
public enum Errno {
    EPERM(1),
    ENOENT(2),
    EINTR(4),
    EIO(5),
    ENXIO(6),
    EBADF(9),
    EAGAIN(11),
    EACCES(13),
    EBUSY(16),
    EEXIST(17),
    EXDEV(18),
    ENODEV(19),
    ENOTDIR(20),
    EISDIR(21),
    EINVAL(22),
    EFBIG(27),
    ENOSPC(28),
    EROFS(30),
    ERANGE(34),
    ENAMETOOLONG(36),
    ENOSYS(38),
    ENOTEMPTY(39),
    ELOOP(40),
    ENODATA(61),
    EILSEQ(84),
    EOPNOTSUPP(95),
    ESTALE(116),
    EDQUOT(122);

    private final int number;

    Errno(int number) {
        this.number = number;
    }

    /** The number's name, such as {@code EIO}; {@code errno 5} for a number that is not listed here. */
    public static String nameOf(int number) {
        for (Errno errno : values()) {
            if (errno.number == number) {
                return errno.name();
            }
        }
        return "errno " + number;
    }

    /** The positive number; FUSE replies carry its negative. */
    public int number() {
        return number;
    }
}

package io.penstock.filesystem;

/**
 * How objects are shown as files.
 *
 * @param uid owner of everything
 * @param gid group of everything
 * @param fileMode permission bits of files, such as 0644
 * @param dirMode permission bits of directories, such as 0755
 * @param allowedUsers the users that these modes apply to
 * @param mostNames the number of names that the kernel may know: above that, it is asked to forget those that it has
 *     known longest. Some 250 bytes of heap each
 * @param passthrough whether the kernel may read cache files directly, where the binding can hand them over
 * @param passthroughFrom bytes of the smallest file for this: a handover takes longer than the reply to a single
 *     request
 * @param kernelKeepsSizes whether the kernel collects writes (its writeback cache): then it alone knows a file's size,
 *     and ignores ours for an inode that it has. Another version of an object gets another inode
 */
public record FileSystemConfig(
        int uid,
        int gid,
        int fileMode,
        int dirMode,
        AllowedUsers allowedUsers,
        long mostNames,
        Passthrough passthrough,
        long passthroughFrom,
        boolean kernelKeepsSizes) {
    private static final int PERMISSIONS = 0777;

    /** {@link #mostNames} that take an eighth of a heap of this size. */
    public static long mostNames(long heapBytes) {
        return heapBytes / 8 / 256;
    }

    public FileSystemConfig {
        checkMode("file-mode", fileMode);
        checkMode("dir-mode", dirMode);
    }

    private static void checkMode(String setting, int mode) {
        if ((mode & ~PERMISSIONS) != 0) {
            throw new IllegalArgumentException(
                    "%s must be three octal digits, 000 to 777, not %o".formatted(setting, mode));
        }
    }
}

package io.penstock.fuse;

import jnr.ffi.LastError;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Runtime;
import jnr.ffi.types.intptr_t;
import jnr.ffi.types.size_t;
import jnr.ffi.types.ssize_t;
import jnr.ffi.types.u_int64_t;

/**
 * The libc calls that open, mount, serve and unmount a device. Memory is passed by address, so a call allocates no
 * object.
 */
public final class Native {
    public static final Calls C = LibraryLoader.create(Calls.class).load("c");

    private static final Runtime RUNTIME = Runtime.getRuntime(C);

    public static final int O_RDONLY = 0;
    public static final int O_RDWR = 2;
    public static final int O_CLOEXEC = 02000000;

    // mount(2): include/uapi/linux/mount.h.
    public static final int MS_RDONLY = 1;
    public static final int MS_NOSUID = 2;
    public static final int MS_NODEV = 4;
    public static final int MS_NOEXEC = 8;
    static final int MS_REMOUNT = 32;
    static final int MS_BIND = 4096;

    /** umount2(2): detach now, finish when the last user is gone. */
    static final int MNT_DETACH = 2;

    /** umount2(2): do not follow the mount point if it is a symbolic link. */
    static final int UMOUNT_NOFOLLOW = 8;

    public static final int AF_UNIX = 1;
    public static final int SOCK_STREAM = 1;
    static final int SOCK_DGRAM = 2;
    static final int SOCK_SEQPACKET = 5;
    static final int SOCK_CLOEXEC = 02000000;

    /** fcntl(2). */
    public static final int F_SETFD = 2;

    /** fcntl(2): exec(3) closes the descriptor. */
    public static final int FD_CLOEXEC = 1;

    /** Implemented by jnr-ffi. */
    public interface Calls {
        int open(String path, int flags);

        int close(int fd);

        @ssize_t
        long read(int fd, @intptr_t long buffer, @size_t long size);

        @ssize_t
        long write(int fd, @intptr_t long buffer, @size_t long size);

        @ssize_t
        long writev(int fd, @intptr_t long vector, int count);

        int ioctl(int fd, @u_int64_t long request, @intptr_t long argument);

        int fcntl(int fd, int command, int argument);

        int mount(String source, String target, String type, @u_int64_t long flags, String data);

        int umount2(String target, int flags);

        int geteuid();

        int getegid();

        int getpagesize();

        int poll(@intptr_t long descriptors, @u_int64_t long count, int milliseconds);

        int socket(int domain, int type, int protocol);

        @ssize_t
        long sendmsg(int socket, @intptr_t long message, int flags);

        int pipe2(@intptr_t long descriptors, int flags);

        int socketpair(int domain, int type, int protocol, @intptr_t long descriptors);

        @ssize_t
        long recvmsg(int socket, @intptr_t long message, int flags);

        /** @return 0, or the error number */
        int posix_spawn(
                @intptr_t long pid,
                String path,
                @intptr_t long actions,
                @intptr_t long attributes,
                @intptr_t long arguments,
                @intptr_t long environment);

        int waitpid(int pid, @intptr_t long status, int options);
    }

    private Native() {}

    /** The error number of a call on this thread that returned -1. */
    public static int error() {
        return LastError.getLastError(RUNTIME);
    }
}

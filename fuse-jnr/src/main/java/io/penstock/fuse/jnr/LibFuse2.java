package io.penstock.fuse.jnr;

import io.penstock.fuse.MountException;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Pointer;
import jnr.ffi.types.size_t;
import org.jspecify.annotations.Nullable;

/** The part of libfuse 2.9 that runs a session: fuse.h and fuse_lowlevel.h, with FUSE_USE_VERSION 26. */
public interface LibFuse2 {
    /**
     * Mounts. Replaces fuse_mount and fuse_new, because dlsym(3) finds the latter in its version for libfuse 1.
     *
     * @param mountPoint receives a copy of the mount point, which {@link #fuse_teardown} frees
     * @param multithreaded receives whether {@code -s} was absent from the arguments
     * @return the file system, or null: the reason went to stderr
     */
    @Nullable
    Pointer fuse_setup(
            int argc,
            Pointer argv,
            Pointer operations,
            @size_t long size,
            Pointer mountPoint,
            Pointer multithreaded,
            @Nullable Pointer userData);

    /** Unmounts if necessary, and frees everything. */
    void fuse_teardown(Pointer fuse, Pointer mountPoint);

    Pointer fuse_get_session(Pointer fuse);

    Pointer fuse_session_next_chan(Pointer session, @Nullable Pointer previous);

    @size_t
    long fuse_chan_bufsize(Pointer channel);

    int fuse_session_exited(Pointer session);

    /** @return bytes received, 0 when the session has ended, or an error number negated */
    int fuse_session_receive_buf(Pointer session, Pointer buffer, Pointer channel);

    void fuse_session_process_buf(Pointer session, Pointer buffer, Pointer channel);

    static LibFuse2 load() throws MountException {
        try {
            return LibraryLoader.create(LibFuse2.class).failImmediately().load("libfuse.so.2");
        } catch (UnsatisfiedLinkError e) {
            throw new MountException(
                    "libfuse 2 (libfuse.so.2) is not installed. Debian and Ubuntu: apt-get install libfuse2"
                            + " (libfuse2t64 since Ubuntu 24.04). RHEL and Fedora: dnf install fuse-libs.",
                    e);
        }
    }
}

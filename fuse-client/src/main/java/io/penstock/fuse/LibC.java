package io.penstock.fuse;

import jnr.ffi.LastError;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Runtime;

/** The few calls of libc that the JDK does not offer. */
final class LibC {
    /** jnr-ffi implements it. */
    public interface Calls {
        int umount2(String target, int flags);

        int geteuid();
    }

    /** umount2(2): detach now, finish when the last user is gone. */
    static final int MNT_DETACH = 2;

    /** umount2(2): do not follow the mount point if it is a symbolic link. */
    static final int UMOUNT_NOFOLLOW = 8;

    private static final Calls CALLS = LibraryLoader.create(Calls.class).load("c");

    private LibC() {}

    /** @return 0, or the error number */
    static int umount2(String target, int flags) {
        return CALLS.umount2(target, flags) == 0 ? 0 : LastError.getLastError(Runtime.getRuntime(CALLS));
    }

    static boolean isRoot() {
        return CALLS.geteuid() == 0;
    }
}

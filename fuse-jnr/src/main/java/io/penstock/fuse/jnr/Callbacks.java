package io.penstock.fuse.jnr;

import jnr.ffi.Pointer;
import jnr.ffi.annotations.Delegate;
import jnr.ffi.types.intptr_t;
import jnr.ffi.types.off_t;
import jnr.ffi.types.size_t;

/**
 * Callbacks for which jnr-fuse's declarations do not work. A path is passed by address, because converting a name that
 * is not UTF-8 to a string would change it. Read works without an object for each argument. Fsyncdir has all its
 * arguments.
 */
final class Callbacks {
    private Callbacks() {}

    /** {@code int getattr(const char *path, struct stat *attributes)}. */
    @FunctionalInterface
    public interface GetAttr {
        @Delegate
        int getattr(@intptr_t long path, Pointer attributes);
    }

    /** {@code int read(const char *, char *buffer, size_t size, off_t offset, struct fuse_file_info *file)}. */
    @FunctionalInterface
    public interface Read {
        @Delegate
        int read(
                @intptr_t long path, @intptr_t long buffer, @size_t long size, @off_t long offset, @intptr_t long file);
    }

    /** {@code int fsyncdir(const char *, int dataOnly, struct fuse_file_info *directory)}. */
    @FunctionalInterface
    public interface FsyncDir {
        @Delegate
        int fsyncdir(@intptr_t long path, int dataOnly, @intptr_t long directory);
    }
}

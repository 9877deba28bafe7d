package io.penstock.disk;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Runtime;
import jnr.ffi.types.off_t;

/** System calls on files that Java does not offer. Safe for use by any number of threads. */
public final class SystemCalls {
    /** include/uapi/linux/falloc.h: free the range, and keep the file's length, which the kernel requires. */
    private static final int PUNCH_HOLE_KEEP_SIZE = 0x02 | 0x01;

    /** include/uapi/linux/fadvise.h: the pages will not be needed. */
    private static final int DO_NOT_NEED = 4;

    /** include/uapi/asm-generic/fcntl.h: O_WRONLY, O_RDWR and O_CLOEXEC; same on x86-64 and aarch64 (and O_RDONLY is 0). */
    private static final int WRITE_ONLY = 0x1;

    private static final int READ_WRITE = 0x2;

    private static final int CLOSE_ON_EXEC = 0x80000;

    /** include/uapi/asm-generic/errno-base.h and errno.h; same on x86-64 and aarch64. */
    private static final int ENOENT = 2;

    private static final int ENOSYS = 38;
    private static final int EOPNOTSUPP = 95;

    /** include/uapi/linux/memfd.h: MFD_CLOEXEC. */
    private static final int CLOSE_MEMORY_ON_EXEC = 0x1;

    private SystemCalls() {}

    /** The functions of the C library that are used here. */
    public interface LibC {
        int open(String path, int flags);

        int fallocate(int descriptor, int mode, @off_t long offset, @off_t long length);

        int posix_fadvise(int descriptor, @off_t long offset, @off_t long length, int advice);

        int close(int descriptor);

        int memfd_create(String name, int flags);
    }

    /** Loaded at the first eviction, not at every start. */
    private static final class Library {
        static final LibC C = LibraryLoader.create(LibC.class).load("c");
        static final Runtime RUNTIME = Runtime.getRuntime(C);
    }

    /**
     * fallocate(2): frees the space of part of a file.
     *
     * @throws NoHolesException if the file system does not support it, such as NFS before 4.2
     */
    static void punch(Path file, long offset, long length) throws IOException {
        int descriptor = open(file, WRITE_ONLY);
        try {
            if (Library.C.fallocate(descriptor, PUNCH_HOLE_KEEP_SIZE, offset, length) != 0) {
                throw failure("punch a hole in", file);
            }
        } finally {
            Library.C.close(descriptor);
        }
    }

    /**
     * posix_fadvise(2): makes the kernel drop its pages of a file, on any file system. Pages that are not yet written
     * back, or that a program has mapped, stay.
     */
    public static void dropPages(Path file) throws IOException {
        int descriptor = open(file, 0);
        try {
            int errno = Library.C.posix_fadvise(descriptor, 0, 0, DO_NOT_NEED); // returns errno instead of setting it
            if (errno != 0) {
                throw new IOException("cannot drop the kernel's pages of " + file + ": errno " + errno);
            }
        } finally {
            Library.C.close(descriptor);
        }
    }

    /** open(2) for reading and writing. */
    static int openToWrite(Path file) throws IOException {
        return open(file, READ_WRITE);
    }

    /**
     * memfd_create(2).
     *
     * @param name for people, in /proc
     */
    static int createMemory(String name) throws IOException {
        int descriptor = Library.C.memfd_create(name, CLOSE_MEMORY_ON_EXEC);
        if (descriptor < 0) {
            throw new IOException("cannot create a file in memory: errno " + Library.RUNTIME.getLastError());
        }
        return descriptor;
    }

    static void close(int descriptor) {
        Library.C.close(descriptor);
    }

    private static int open(Path file, int flags) throws IOException {
        int descriptor = Library.C.open(file.toString(), flags | CLOSE_ON_EXEC);
        if (descriptor < 0) {
            throw failure("open", file);
        }
        return descriptor;
    }

    private static IOException failure(String what, Path file) {
        int errno = Library.RUNTIME.getLastError();
        return switch (errno) {
            case ENOENT -> new NoSuchFileException(file.toString());
            case ENOSYS, EOPNOTSUPP -> new NoHolesException(file.toString());
            default -> new IOException("cannot " + what + " " + file + ": errno " + errno);
        };
    }
}

package io.penstock.fuse.kernel;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.Errno;
import io.penstock.fuse.Native;

/**
 * An open {@code /dev/fuse} that serves a mount. A read takes one whole request, a write sends one whole reply. Any
 * number of threads may do both concurrently.
 */
final class Device implements AutoCloseable {
    private final int fd;

    @GuardedBy("this")
    private boolean closed;

    Device(int fd) {
        this.fd = fd;
    }

    int fd() {
        return fd;
    }

    /**
     * Waits for the next request.
     *
     * @return its bytes, or an error number negated: ENODEV once unmounted
     */
    int read(long address, int size) {
        while (true) {
            long bytes = Native.C.read(fd, address, size);
            if (bytes >= 0) {
                return (int) bytes;
            }
            int error = Native.error();
            // EINTR: a signal. EAGAIN: another process made the descriptor non-blocking. ENOENT: the request was
            // withdrawn while it was being read.
            if (error != Errno.EINTR.number() && error != Errno.EAGAIN.number() && error != Errno.ENOENT.number()) {
                return -error;
            }
        }
    }

    /** @return 0, or an error number negated: ENOENT if no process waits for this reply */
    int write(long address, int size) {
        while (Native.C.write(fd, address, size) < 0) {
            int error = Native.error();
            if (error != Errno.EINTR.number()) {
                return -error;
            }
        }
        return 0;
    }

    /**
     * {@link #write} of several pieces of memory.
     *
     * @param vector address of the elements
     */
    int writev(long vector, int count) {
        while (Native.C.writev(fd, vector, count) < 0) {
            int error = Native.error();
            if (error != Errno.EINTR.number()) {
                return -error;
            }
        }
        return 0;
    }

    /**
     * Calls ioctl(2) on the device. Unlike the other methods, this may be called after the end.
     *
     * @param argument an address
     * @return its result, or an error number negated: EBADF if the device is closed
     */
    synchronized int ioctl(int request, long argument) {
        if (closed) {
            return -Errno.EBADF.number();
        }
        int result = Native.C.ioctl(fd, Integer.toUnsignedLong(request), argument);
        return result >= 0 ? result : -Native.error();
    }

    /** Ends the connection; if the mount remains, its calls fail with ENOTCONN. Closing again does nothing. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            Native.C.close(fd);
        }
    }
}

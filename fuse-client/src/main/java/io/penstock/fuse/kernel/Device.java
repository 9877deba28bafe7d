package io.penstock.fuse.kernel;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.Errno;

/**
 * An open {@code /dev/fuse} with a mount behind it. A read takes one whole request, a write gives one whole answer; both
 * may be done by any number of threads at a time.
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
            // EINTR: a signal. EAGAIN: somebody made the descriptor non-blocking. ENOENT: the request was withdrawn
            // while it was being read.
            if (error != Errno.EINTR.number() && error != Errno.EAGAIN.number() && error != Errno.ENOENT.number()) {
                return -error;
            }
        }
    }

    /** @return 0, or an error number negated: ENOENT if nobody waits for this answer any more */
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
     * {@link #write} of what lies in several places.
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
     * One of the device's own calls. May also come after the end, unlike the others.
     *
     * @param argument an address
     * @return what it returned, or an error number negated: EBADF if the device is closed
     */
    synchronized int ioctl(int request, long argument) {
        if (closed) {
            return -Errno.EBADF.number();
        }
        int result = Native.C.ioctl(fd, Integer.toUnsignedLong(request), argument);
        return result >= 0 ? result : -Native.error();
    }

    /** Ends the connection, and the mount answers ENOTCONN if it still stands. Closing again does nothing. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            Native.C.close(fd);
        }
    }
}

package io.penstock.core;

import org.jspecify.annotations.Nullable;

/**
 * An operation of the file system fails with an error number. The message is for the log. The exception has no stack
 * trace: most are the ENOENT of a lookup, an ordinary result that must stay cheap. An unexpected failure is the cause
 * and has its own stack trace.
 */
public class ErrnoException extends Exception {
    private static final long serialVersionUID = 1L;

    private final Errno errno;

    public ErrnoException(Errno errno, String message) {
        this(errno, message, null);
    }

    public ErrnoException(Errno errno, String message, @Nullable Throwable cause) {
        super(message, cause, false, false);
        this.errno = errno;
    }

    public Errno errno() {
        return errno;
    }
}

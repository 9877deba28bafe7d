package io.penstock.filesystem.names;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;

/** ENOENT: there is no such name. The answer is valid for a limited time. */
public final class NoEntryException extends ErrnoException {
    private static final long serialVersionUID = 1L;

    private final long validNanos;

    public NoEntryException(String key, long validNanos) {
        super(Errno.ENOENT, "there is no '" + key + "'");
        this.validNanos = validNanos;
    }

    /** How long the answer is valid from now, in nanoseconds. */
    public long validNanos() {
        return validNanos;
    }
}

package io.penstock.filesystem.names;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;

/** ENOENT: there is no such name, which may be believed for a while. */
public final class NoEntryException extends ErrnoException {
    private static final long serialVersionUID = 1L;

    private final long validNanos;

    public NoEntryException(String key, long validNanos) {
        super(Errno.ENOENT, "there is no '" + key + "'");
        this.validNanos = validNanos;
    }

    /** For how long from now the name may be believed to be absent, in nanoseconds. */
    public long validNanos() {
        return validNanos;
    }
}

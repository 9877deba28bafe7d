package io.penstock.share;

import org.jspecify.annotations.Nullable;

/** A node cannot join a cache group. The message is for users: it names the setting or file and says what to do. */
public final class ShareException extends Exception {
    private static final long serialVersionUID = 1;

    ShareException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

package io.penstock.fuse;

import org.jspecify.annotations.Nullable;

/** Why mounting or unmounting failed, in words for the user: the cause and what to do. */
public class MountException extends Exception {
    private static final long serialVersionUID = 1L;

    public MountException(String message) {
        this(message, null);
    }

    public MountException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

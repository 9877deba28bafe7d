package io.penstock.inventory;

import io.penstock.core.Printable;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** An index that cannot be used: damaged, of another bucket, or lacking required columns. The message is for users. */
public final class IndexException extends IOException {
    private static final long serialVersionUID = 1L;

    IndexException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    IndexException(String message) {
        this(message, null);
    }

    static IndexException unreadable(Path file, Throwable cause) {
        String remedy = cause instanceof AccessDeniedException ? "" : "; make or copy it again";
        return new IndexException("'" + file + "' cannot be read: " + reason(cause) + remedy, cause);
    }

    /** @param row counted from 1 */
    static IndexException damaged(Path file, long row, Throwable cause) {
        return new IndexException(
                "'" + file + "' is damaged in row " + row + ": " + reason(cause) + "; make or copy it again", cause);
    }

    /** A codec's library is native: it is unpacked into a file and loaded from there. */
    static IndexException noCodec(String what, LinkageError cause) {
        return new IndexException(
                what + "the compression library cannot be loaded: " + reason(cause) + "; it is unpacked into "
                        + System.getProperty("java.io.tmpdir")
                        + ", where writing and executing files must be allowed: set TMPDIR to another folder",
                cause);
    }

    /** A library's exception says where it failed; its cause says why. */
    private static String reason(Throwable cause) {
        Throwable last = cause;
        while (last.getCause() != null && last.getCause().getMessage() != null) {
            last = last.getCause();
        }
        return switch (last) { // the JDK's messages for these are only the path
            case AccessDeniedException _ -> "permission denied";
            case NoSuchFileException _ -> "no such file";
            default -> Printable.text(String.valueOf(last.getMessage()));
        };
    }
}

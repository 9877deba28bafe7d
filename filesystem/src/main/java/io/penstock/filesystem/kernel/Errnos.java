package io.penstock.filesystem.kernel;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.objectstore.ObjectStoreException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The one place that maps failures of the store and of staging to error numbers. */
public final class Errnos {
    private static final Logger LOG = LoggerFactory.getLogger(Errnos.class);

    private Errnos() {}

    /** A call that may wait for the store, or for staging. */
    @FunctionalInterface
    public interface Waiting<T extends @Nullable Object> {
        T call() throws ErrnoException, ObjectStoreException, IOException, InterruptedException;
    }

    /** The same, without a result. */
    @FunctionalInterface
    public interface WaitingAction {
        void run() throws ErrnoException, ObjectStoreException, IOException, InterruptedException;
    }

    public static <T extends @Nullable Object> T call(Waiting<T> call) throws ErrnoException {
        try {
            return call.call();
        } catch (ObjectStoreException | IOException | InterruptedException e) {
            throw of(e);
        }
    }

    public static void run(WaitingAction action) throws ErrnoException {
        call(() -> {
            action.run();
            return true;
        });
    }

    /**
     * @param failure of the store or of staging, or from the store while staging read the parts of an upload's body; or
     *     an interrupt, after which the thread's interrupt flag stays set
     */
    public static ErrnoException of(Exception failure) {
        if (failure instanceof InterruptedException) {
            Thread.currentThread().interrupt();
            return new ErrnoException(Errno.EINTR, "interrupted while waiting for the store", failure);
        }
        Errno errno = errno(failure);
        Throwable cause = cause(failure);
        if (errno == Errno.EACCES) {
            // Programs print only "Permission denied". (The binding logs EIO with its operation.)
            LOG.warn("{}", cause.getMessage());
        }
        return new ErrnoException(errno, String.valueOf(cause.getMessage()), cause);
    }

    /** The error number of a failure of the store or of staging. */
    public static Errno errno(Exception failure) {
        return cause(failure) instanceof ObjectStoreException known ? errno(known) : Errno.EIO;
    }

    /** The failure itself, or the store's below one of staging. */
    private static Throwable cause(Exception failure) {
        boolean isOfStore = failure instanceof ObjectStoreException;
        return !isOfStore && failure.getCause() instanceof ObjectStoreException store ? store : failure;
    }

    private static Errno errno(ObjectStoreException failure) {
        return switch (failure) {
            // The caller's version is gone; the kernel looks the path up again on ESTALE.
            case ObjectStoreException.NotFound _, ObjectStoreException.PreconditionFailed _ -> Errno.ESTALE;
            // An archived object cannot be read until it is restored: cat prints "Permission denied".
            case ObjectStoreException.AccessDenied _, ObjectStoreException.InvalidState _ -> Errno.EACCES;
            case ObjectStoreException.Away _,
                    ObjectStoreException.OutcomeUnknown _,
                    ObjectStoreException.Refused _,
                    ObjectStoreException.Corrupt _ -> Errno.EIO;
            case ObjectStoreException.QuotaExceeded _ -> Errno.EDQUOT;
            case ObjectStoreException.OutOfSpace _ -> Errno.ENOSPC;
        };
    }

    /** Whether the store could not be reached. */
    public static boolean isOutage(ErrnoException failure) {
        return failure.getCause() instanceof ObjectStoreException.Away;
    }

    /** A read-only mount's reply to every modifying call. */
    public static ErrnoException readOnly() {
        return new ErrnoException(Errno.EROFS, "this mount is read-only");
    }
}

package io.penstock.filesystem.kernel;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.objectstore.ObjectStoreException;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The one place that maps failures of the store and of staging to error numbers. */
public final class Errnos {
    private static final Logger LOG = LoggerFactory.getLogger(Errnos.class);

    private Errnos() {}

    /** A call that may wait for the store, or for staging. */
    @FunctionalInterface
    public interface Waiting<T> {
        T call() throws ErrnoException, ObjectStoreException, IOException, InterruptedException;
    }

    /** The same, without a result. */
    @FunctionalInterface
    public interface WaitingAction {
        void run() throws ErrnoException, ObjectStoreException, IOException, InterruptedException;
    }

    public static <T> T call(Waiting<T> call) throws ErrnoException {
        try {
            return call.call();
        } catch (ObjectStoreException e) {
            throw of(e);
        } catch (IOException e) {
            throw of(e);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    public static void run(WaitingAction action) throws ErrnoException {
        call(() -> {
            action.run();
            return true;
        });
    }

    public static ErrnoException of(ObjectStoreException failure) {
        Errno errno = errno(failure);
        if (errno == Errno.EACCES) {
            // Programs print only "Permission denied". (The binding logs EIO with its operation.)
            LOG.warn("{}", failure.getMessage());
        }
        return new ErrnoException(errno, String.valueOf(failure.getMessage()), failure);
    }

    /** The error number of a failure of the store or of staging. */
    public static Errno errno(Exception failure) {
        Throwable cause = failure instanceof ObjectStoreException ? failure : failure.getCause();
        return cause instanceof ObjectStoreException known ? errno(known) : Errno.EIO;
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

    /** From staging, or from the store if the failure came from reading the parts of an upload's body. */
    private static ErrnoException of(IOException failure) {
        if (failure.getCause() instanceof ObjectStoreException cause) {
            return of(cause);
        }
        return new ErrnoException(Errno.EIO, String.valueOf(failure.getMessage()), failure);
    }

    /** The caller was interrupted while waiting; its thread's interrupt flag stays set. */
    public static ErrnoException interrupted(InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new ErrnoException(Errno.EINTR, "interrupted while waiting for the store", cause);
    }

    /** A read-only mount's reply to every modifying call. */
    public static ErrnoException readOnly() {
        return new ErrnoException(Errno.EROFS, "this mount is read-only");
    }
}

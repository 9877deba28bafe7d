package io.penstock.objectstore;

import org.jspecify.annotations.Nullable;

/**
 * Why a call to the store failed finally, after all retries. The message names bucket and key and says what to do.
 * Callers switch over the kinds exhaustively.
 */
public abstract sealed class ObjectStoreException extends Exception {
    private static final long serialVersionUID = 1L;

    ObjectStoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /**
     * Whether the store may have done, or may still do, what the request asks for. If not, it has refused, and nothing of
     * the call counts: an object at the key is another's.
     */
    public final boolean mayBeDone() {
        return switch (this) {
            case Away _, OutcomeUnknown _, Corrupt _ -> true;
            case NotFound _,
                    PreconditionFailed _,
                    AccessDenied _,
                    InvalidState _,
                    Refused _,
                    QuotaExceeded _,
                    OutOfSpace _ -> false;
        };
    }

    /** The object, upload or bucket does not exist (404, with one of S3's codes or in response to a HEAD). */
    public static final class NotFound extends ObjectStoreException {
        private static final long serialVersionUID = 1L;

        public NotFound(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** The object does not meet the condition of the request (412). */
    public static final class PreconditionFailed extends ObjectStoreException {
        private static final long serialVersionUID = 1L;

        public PreconditionFailed(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** The credentials are missing, wrong, expired, or do not allow this (401, 403). */
    public static final class AccessDenied extends ObjectStoreException {
        private static final long serialVersionUID = 1L;

        private final Reason reason;

        /** Why access is denied. */
        public enum Reason {
            NO_CREDENTIALS,
            /** The store does not know the access key, or another secret belongs to it. */
            WRONG_CREDENTIALS,
            EXPIRED,
            /** This machine's clock is too far from the store's. */
            CLOCK,
            /** The credentials are good, and do not allow this; or the store gives no other reason. */
            NOT_ALLOWED
        }

        public AccessDenied(String message, @Nullable Throwable cause) {
            this(message, Reason.NOT_ALLOWED, cause);
        }

        public AccessDenied(String message, Reason reason, @Nullable Throwable cause) {
            super(message, cause);
            this.reason = reason;
        }

        public Reason reason() {
            return reason;
        }

        /** For callers that go on without what is not allowed: throws this if the credentials may allow it later. */
        public void throwUnlessNotAllowed() throws AccessDenied {
            if (reason != Reason.NOT_ALLOWED) {
                throw this;
            }
        }
    }

    /** The object is in an archive class and must be restored before it can be read (403 InvalidObjectState). */
    public static final class InvalidState extends ObjectStoreException {
        private static final long serialVersionUID = 1L;

        public InvalidState(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** The store is away: it could do nothing with the request, or may have done it. Later it may respond to the same. */
    public abstract static sealed class Away extends ObjectStoreException {
        private static final long serialVersionUID = 1L;

        Away(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** The store still asked for fewer requests (429, 503 SlowDown) after the last retry. */
    public static final class Throttled extends Away {
        private static final long serialVersionUID = 1L;

        public Throttled(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /**
     * The store could not be reached, or the store or a proxy on the way to it was in trouble, until the last retry.
     */
    public static final class Unavailable extends Away {
        private static final long serialVersionUID = 1L;

        public Unavailable(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /**
     * The response to one attempt was lost and the next was refused, and it cannot be found out which of the two counts: the
     * object at the key may be the one that this call made or another client's. Both sides of a copy must stay. Thrown only
     * where the request carries no {@link OperationId}, or where the object may not be asked for it.
     */
    public static final class OutcomeUnknown extends ObjectStoreException {
        private static final long serialVersionUID = 1L;

        public OutcomeUnknown(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /**
     * The store refuses the request itself, and would refuse every repetition: a 4xx of no other kind, or 501. The code
     * in the message says why.
     */
    public static final class Refused extends ObjectStoreException {
        private static final long serialVersionUID = 1L;

        public Refused(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** The response contradicts itself: a checksum that does not hold, a body of the wrong length, broken XML. */
    public static final class Corrupt extends ObjectStoreException {
        private static final long serialVersionUID = 1L;

        public Corrupt(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** The bucket or its owner has reached a quota of the store. */
    public static final class QuotaExceeded extends ObjectStoreException {
        private static final long serialVersionUID = 1L;

        public QuotaExceeded(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** The store has no room left (507). */
    public static final class OutOfSpace extends ObjectStoreException {
        private static final long serialVersionUID = 1L;

        public OutOfSpace(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }
}

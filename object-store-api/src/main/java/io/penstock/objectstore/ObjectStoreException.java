package io.penstock.objectstore;

import org.jspecify.annotations.Nullable;

/**
 * Why a call to the store finally failed, after all retries. The message names bucket and key and says what to do.
 * Callers switch over the kinds exhaustively.
 */
public abstract sealed class ObjectStoreException extends Exception {
    private static final long serialVersionUID = 1L;

    ObjectStoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /**
     * Whether the store may have carried out the request, or may still do so. If false, the store has refused it and
     * the call has changed nothing: an object at the key is another client's.
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

    /** The credentials are missing, wrong or expired, or do not allow the request (401, 403). */
    public static final class AccessDenied extends ObjectStoreException {
        private static final long serialVersionUID = 1L;

        private final Reason reason;

        /** Why access is denied. */
        public enum Reason {
            NO_CREDENTIALS,
            /** The store does not know the access key, or its secret is another one. */
            WRONG_CREDENTIALS,
            EXPIRED,
            /** This machine's clock is too far from the store's. */
            CLOCK,
            /** The credentials are valid but do not allow this, or the store gives no other reason. */
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

        /** For callers that can do without what is not allowed: throws this unless the reason is NOT_ALLOWED. */
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

    /** The store is away: the request may or may not have taken effect. The same request may succeed later. */
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

    /** The store could not be reached, or the store or a proxy before it was in trouble, until the last retry. */
    public static final class Unavailable extends Away {
        private static final long serialVersionUID = 1L;

        public Unavailable(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /**
     * The response to one attempt was lost and the next attempt was refused, and nothing shows which of the two counts:
     * the object at the key may be this call's or another client's. Source and target of a copy must both stay. Thrown
     * only if the request carries no {@link OperationId}, or if the credentials may not look at the object.
     */
    public static final class OutcomeUnknown extends ObjectStoreException {
        private static final long serialVersionUID = 1L;

        public OutcomeUnknown(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /**
     * The store refuses the request itself and would refuse every repetition: any other 4xx, or 501. The code in the
     * message says why.
     */
    public static final class Refused extends ObjectStoreException {
        private static final long serialVersionUID = 1L;

        public Refused(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** The response contradicts itself: a wrong checksum, a body of the wrong length, broken XML. */
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

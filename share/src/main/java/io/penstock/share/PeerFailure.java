package io.penstock.share;

import io.penstock.share.ShareStatistics.Fallback;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.channels.ClosedByInterruptException;
import org.jspecify.annotations.Nullable;

/** Why another node did not deliver the bytes. */
final class PeerFailure extends Exception {
    private static final long serialVersionUID = 1;

    private final Fallback cause;
    private final boolean isFault;

    PeerFailure(Fallback cause, String message, @Nullable Exception why) {
        this(cause, isFault(cause), message, why);
    }

    private PeerFailure(Fallback cause, boolean isFault, @Nullable String message, @Nullable Throwable why) {
        super(message, why, false, false);
        this.cause = cause;
        this.isFault = isFault;
    }

    /**
     * Why a request ended with this exception.
     *
     * @param timer null before there is one
     * @throws InterruptedException if an interrupt is the reason
     */
    static PeerFailure of(IOException e, @Nullable RequestTimer timer) throws InterruptedException {
        if (e instanceof ClosedByInterruptException || Thread.currentThread().isInterrupted()) {
            Thread.interrupted();
            throw new InterruptedException();
        }
        Fallback cause = timer != null && timer.isExpired()
                ? Fallback.TIMEOUT
                : e instanceof ProtocolException ? Fallback.CORRUPT : Fallback.UNREACHABLE;
        return new PeerFailure(cause, "" + e, e);
    }

    /** The same for a response that broke off: the node's store may have failed; the next request tests the node. */
    PeerFailure afterRightBytes() {
        return new PeerFailure(cause, isFault && cause != Fallback.UNREACHABLE, getMessage(), getCause());
    }

    Fallback fallback() {
        return cause;
    }

    /** Whether the node may be asked again immediately: it seems healthy, but lacks these bytes now. */
    boolean isNoFault() {
        return !isFault;
    }

    private static boolean isFault(Fallback cause) {
        return switch (cause) {
            case SKIPPED, LIMITED, BUSY, STORE, CHANGED -> false;
            case UNREACHABLE, TIMEOUT, FORBIDDEN, FOREIGN, CORRUPT -> true;
        };
    }
}

package io.penstock.share;

import io.penstock.share.ShareStatistics.Fallback;
import org.jspecify.annotations.Nullable;

/** Why another node does not bring the bytes. */
final class PeerFailure extends Exception {
    private static final long serialVersionUID = 1;

    private final Fallback cause;

    PeerFailure(Fallback cause, String message, @Nullable Exception why) {
        super(message, why, false, false);
        this.cause = cause;
    }

    Fallback fallback() {
        return cause;
    }

    /** Whether the node may be asked again at once: it is well, and does not have these bytes now. */
    boolean isNoFault() {
        return switch (cause) {
            case SKIPPED, LIMITED, BUSY, STORE -> true;
            case UNREACHABLE, TIMEOUT, FORBIDDEN, FOREIGN, CORRUPT -> false;
        };
    }
}

package io.penstock.objectstore;

/**
 * What is known of the attempts of one request, and when the next is due. Nothing below tries again: so each attempt's
 * end is seen here. Confined to one thread.
 *
 * <pre>
 *   sending ──▶ refused: it was not carried out, and will not be
 *      │
 *      └─▶ anything else: it may have been carried out; once the next is sent, the call is in doubt
 * </pre>
 */
final class RetryState {
    private int failures;
    private boolean damaged;
    private boolean skewed;

    /** The last attempt may have been carried out. */
    private boolean mayBeApplied;

    private boolean inDoubt;

    /** The request got somewhere: the pace begins anew. */
    void progressed() {
        failures = 0;
    }

    /** Once: bytes that came wrong may have been damaged on their way; if they do so again, they are wrong there. */
    boolean mayRetryCorruption() {
        boolean first = !damaged;
        damaged = true;
        return first;
    }

    /** Once: the SDK has learnt from the refusal what time it is at the store. */
    boolean mayRetryClockSkew() {
        boolean first = !skewed;
        skewed = true;
        return first;
    }

    /** The next attempt is about to be sent. */
    void attemptStarts() {
        inDoubt |= mayBeApplied;
        mayBeApplied = true;
    }

    /** The attempt that was sent last has not been carried out, and will not be. */
    void attemptRefused() {
        mayBeApplied = false;
    }

    /** Whether an attempt before the last may have been carried out although nobody has heard so. */
    boolean isInDoubt() {
        return inDoubt;
    }

    /** Whether to try again within the deadline; pauses before it says yes. */
    boolean awaitNextAttempt(Deadline deadline, boolean throttled) throws InterruptedException {
        if (deadline.isOver()) {
            return false;
        }
        deadline.sleep(RetryPolicy.pause(failures++, throttled));
        return true;
    }
}

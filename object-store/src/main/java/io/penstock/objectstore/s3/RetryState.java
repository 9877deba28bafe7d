package io.penstock.objectstore.s3;

import io.penstock.core.KernelRequest;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.RetryPolicy;

/**
 * The attempts of one request so far. No layer below retries, so this class sees the end of each attempt. Confined to
 * one thread.
 *
 * <pre>
 *   started ──▶ refused: it was not carried out, and will not be
 *      │
 *      └─▶ anything else: it may have been carried out; once the next attempt starts, the call is in doubt
 * </pre>
 */
final class RetryState {
    private int failures;
    private boolean damaged;
    private boolean skewed;

    /** Whether the last attempt may have been carried out. */
    private boolean mayBeApplied;

    private boolean inDoubt;

    /**
     * The attempts of a request that a former process of this mount may have made, because the kernel has sent its own
     * request again. A look must show whether it was carried out.
     */
    static RetryState ofOperation() {
        RetryState state = new RetryState();
        state.mayBeApplied = KernelRequest.mayBeDone();
        return state;
    }

    /** Records progress: the pauses become short again. */
    void progressed() {
        failures = 0;
    }

    /**
     * True once. Damaged bytes may have been damaged in transit; if they are damaged again, they are damaged in the
     * store.
     */
    boolean mayRetryCorruption() {
        boolean first = !damaged;
        damaged = true;
        return first;
    }

    /** True once. The SDK has learnt the store's time from the refusal. */
    boolean mayRetryClockSkew() {
        boolean first = !skewed;
        skewed = true;
        return first;
    }

    /** Records that the next attempt starts. */
    void attemptStarts() {
        inDoubt |= mayBeApplied;
        mayBeApplied = true;
    }

    /** Records that the last attempt was not carried out, and will not be. */
    void attemptRefused() {
        mayBeApplied = false;
    }

    /** Whether an attempt before the last may have been carried out although its response was lost. */
    boolean isInDoubt() {
        return inDoubt;
    }

    /** Pauses before the next attempt and returns true; returns false if the deadline is over. */
    boolean awaitNextAttempt(Deadline deadline, boolean throttled) throws InterruptedException {
        if (deadline.isOver()) {
            return false;
        }
        deadline.sleep(RetryPolicy.pause(failures++, throttled));
        return true;
    }
}

package io.penstock.objectstore;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How long one call is tried again, at what pace, and what is known of its attempts. Nothing below tries again: so each
 * attempt's end is seen here. Confined to one thread.
 *
 * <pre>
 *   sending ──▶ refused: it was not carried out, and will not be
 *      │
 *      └─▶ anything else: it may have been carried out; once the next is sent, the call is in doubt
 * </pre>
 */
final class Persistence {
    private static final long FIRST_PAUSE_MILLIS = 50;

    /** A store that asks for fewer requests means it. */
    private static final long FIRST_THROTTLED_PAUSE_MILLIS = 200;

    private static final long LONGEST_PAUSE_MILLIS = 10_000;

    private final Duration deadline;
    private long since = System.nanoTime();
    private int failures;
    private boolean damaged;
    private boolean skewed;

    /** The last attempt may have been carried out. */
    private boolean unheard;

    private boolean inDoubt;

    /** @param deadline without progress */
    Persistence(Duration deadline) {
        this.deadline = deadline;
    }

    /** Never again. */
    static Persistence none() {
        return new Persistence(Duration.ZERO);
    }

    /** The call got somewhere: the deadline and the pace begin anew. */
    void progressed() {
        since = System.nanoTime();
        failures = 0;
    }

    /** Once: bytes that came wrong may have been damaged on their way; if they do so again, they are wrong there. */
    boolean forgivesDamage() {
        boolean first = !damaged;
        damaged = true;
        return first;
    }

    /** Once: the SDK has learnt from the refusal what time it is at the store. */
    boolean forgivesSkew() {
        boolean first = !skewed;
        skewed = true;
        return first;
    }

    /** The next attempt is about to be sent. */
    void sending() {
        inDoubt |= unheard;
        unheard = true;
    }

    /** The attempt that was sent last has not been carried out, and will not be. */
    void refused() {
        unheard = false;
    }

    /** Whether an attempt before the last may have been carried out although nobody has heard so. */
    boolean isInDoubt() {
        return inDoubt;
    }

    /** Whether to try again; pauses before it says yes. The first pause is short, each may be up to twice the last. */
    boolean again(boolean throttled) throws InterruptedException {
        long left = deadline.toNanos() - (System.nanoTime() - since);
        if (left <= 0) {
            return false;
        }
        long first = throttled ? FIRST_THROTTLED_PAUSE_MILLIS : FIRST_PAUSE_MILLIS;
        long longest = Math.min(LONGEST_PAUSE_MILLIS, first << Math.min(failures++, 20));
        // Full jitter: clients that were throttled together do not come back together.
        Thread.sleep(Duration.ofNanos(Math.min(left, ThreadLocalRandom.current().nextLong(1 + longest * 1_000_000))));
        return true;
    }
}

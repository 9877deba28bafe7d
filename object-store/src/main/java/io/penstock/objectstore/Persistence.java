package io.penstock.objectstore;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How long one call is tried again, and at what pace. The SDK retries an attempt a few times by itself, adaptively to
 * throttling; this is the layer above, which goes on until the deadline and also across broken bodies. Confined to
 * one thread.
 */
final class Persistence {
    private static final long FIRST_PAUSE_MILLIS = 50;
    private static final long LONGEST_PAUSE_MILLIS = 10_000;

    private final Duration deadline;
    private long since = System.nanoTime();
    private int failures;
    private boolean damaged;

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

    /** Whether to try again; pauses before it says yes. The first pause is short, each may be up to twice the last. */
    boolean again() throws InterruptedException {
        long left = deadline.toNanos() - (System.nanoTime() - since);
        if (left <= 0) {
            return false;
        }
        long longest = Math.min(LONGEST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(failures++, 20));
        // Full jitter: clients that were throttled together do not come back together.
        Thread.sleep(Duration.ofNanos(Math.min(left, ThreadLocalRandom.current().nextLong(1 + longest * 1_000_000))));
        return true;
    }
}

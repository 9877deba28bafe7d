package io.penstock.objectstore;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How long calls continue while the store is unreachable or in trouble, and how fast they repeat requests. Nothing else
 * defines this. docs/adr/0012-retries.md has the reasons. Immutable.
 *
 * @param reading time without progress after which a call that reads, looks up or lists fails; zero for one attempt
 * @param writing the same for a call that changes something
 */
public record RetryPolicy(Duration reading, Duration writing) {
    /** 2 and 15 minutes. */
    public static final RetryPolicy DEFAULT = new RetryPolicy(Duration.ofMinutes(2), Duration.ofMinutes(15));

    /** Never retries. */
    public static final RetryPolicy ONE_ATTEMPT = new RetryPolicy(Duration.ZERO, Duration.ZERO);

    private static final long FIRST_PAUSE_MILLIS = 50;

    /** Longer, for a store that asks for fewer requests. */
    private static final long FIRST_THROTTLED_PAUSE_MILLIS = 200;

    private static final long LONGEST_PAUSE_MILLIS = 10_000;

    /** @throws IllegalArgumentException if a time is negative */
    public RetryPolicy {
        if (reading.isNegative() || writing.isNegative()) {
            throw new IllegalArgumentException("retry deadlines " + reading + ", " + writing + ": must be 0 or more");
        }
    }

    /** The deadline of a call that begins now and reads, looks up or lists. */
    public Deadline forReading() {
        return new Deadline(reading, "s3.retry-deadline");
    }

    /** The deadline of a call that begins now and changes something. */
    public Deadline forWriting() {
        return new Deadline(writing, "write.retry-deadline");
    }

    /**
     * The pause before the next attempt. The first is short, and each may be up to twice as long as the previous one.
     *
     * @param failures since the last progress, not counting the last failure
     * @param throttled whether the store asked for fewer requests
     */
    public static Duration pause(int failures, boolean throttled) {
        long first = throttled ? FIRST_THROTTLED_PAUSE_MILLIS : FIRST_PAUSE_MILLIS;
        long longest = Math.min(LONGEST_PAUSE_MILLIS, first << Math.min(failures, 20));
        // Full jitter: clients that were throttled at the same time do not return at the same time.
        return Duration.ofNanos(ThreadLocalRandom.current().nextLong(1 + longest * 1_000_000));
    }
}

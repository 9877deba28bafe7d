package io.penstock.share;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.cache.Urgency;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Bytes a second in one direction. What would have to wait for long does not pass: the store is quicker then. Readahead
 * waits less, so that demand goes first. Safe for use by any number of threads.
 */
final class Bandwidth {
    private static final long DEMAND_NANOS = Duration.ofMillis(500).toNanos();
    private static final long READAHEAD_NANOS = Duration.ofMillis(100).toNanos();

    /** 0 for no limit. */
    @GuardedBy("this")
    private long bytesPerSecond;

    private final LongSupplier nanoTime;

    /** By nanoTime, when all that has passed is through. */
    @GuardedBy("this")
    private long free;

    /**
     * @param bytesPerSecond 0 for no limit
     * @param nanoTime as {@link System#nanoTime}
     */
    Bandwidth(long bytesPerSecond, LongSupplier nanoTime) {
        this.bytesPerSecond = bytesPerSecond;
        this.nanoTime = nanoTime;
        this.free = nanoTime.getAsLong();
    }

    /**
     * What has passed at the old rate no longer counts.
     *
     * @param most bytes a second from now on; 0 for no limit
     */
    synchronized void limit(long most) {
        bytesPerSecond = most;
        free = nanoTime.getAsLong();
    }

    /** Whether so many bytes may pass; waits until they may, for half a second at most. */
    boolean pass(long bytes, Urgency urgency) throws InterruptedException {
        long nanos = reserve(bytes, urgency);
        TimeUnit.NANOSECONDS.sleep(nanos);
        return nanos >= 0;
    }

    /** Nanoseconds until they may pass; -1 if they may not. */
    synchronized long reserve(long bytes, Urgency urgency) {
        if (bytesPerSecond == 0) {
            return 0;
        }
        long now = nanoTime.getAsLong();
        long wait = Math.max(0, free - now);
        if (wait > (urgency == Urgency.DEMAND ? DEMAND_NANOS : READAHEAD_NANOS)) {
            return -1;
        }
        free = now + wait + (long) ((double) bytes / bytesPerSecond * TimeUnit.SECONDS.toNanos(1));
        return wait;
    }
}

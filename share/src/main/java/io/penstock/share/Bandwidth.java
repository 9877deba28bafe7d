package io.penstock.share;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.cache.Urgency;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Limits bytes per second in one direction. Rejects what would have to wait long: the store is faster then. Readahead
 * waits less than demand, so that demand goes first. Safe for use by any number of threads.
 */
final class Bandwidth {
    private static final long DEMAND_NANOS = Duration.ofMillis(500).toNanos();
    private static final long READAHEAD_NANOS = Duration.ofMillis(100).toNanos();

    /** 0 for no limit. */
    @GuardedBy("this")
    private long bytesPerSecond;

    private final LongSupplier nanoTime;

    /** The nanoTime at which all accepted bytes have passed. */
    @GuardedBy("this")
    private long free;

    /**
     * @param bytesPerSecond 0 for no limit
     * @param nanoTime such as {@link System#nanoTime}
     */
    Bandwidth(long bytesPerSecond, LongSupplier nanoTime) {
        this.bytesPerSecond = bytesPerSecond;
        this.nanoTime = nanoTime;
        this.free = nanoTime.getAsLong();
    }

    /**
     * Bytes accepted at the old rate no longer count.
     *
     * @param most bytes per second from now on; 0 for no limit
     */
    synchronized void limit(long most) {
        bytesPerSecond = most;
        free = nanoTime.getAsLong();
    }

    /** Whether these bytes may pass; waits until they may, for half a second at most. */
    boolean pass(long bytes, Urgency urgency) throws InterruptedException {
        long nanos = reserve(bytes, urgency);
        TimeUnit.NANOSECONDS.sleep(nanos);
        return nanos >= 0;
    }

    /** Nanoseconds until the bytes may pass; -1 if they may not. */
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

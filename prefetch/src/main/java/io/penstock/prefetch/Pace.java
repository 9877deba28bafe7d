package io.penstock.prefetch;

import java.util.function.LongSupplier;

/** Limits bytes per second, evenly from piece to piece. Confined to one thread. */
public final class Pace {
    private static final double NANOS_PER_SECOND = 1e9;

    private final double nanosPerByte;
    private final LongSupplier nanoTime;
    private long next;

    /**
     * @param bytesPerSecond 0 for no limit
     * @param nanoTime such as {@link System#nanoTime}
     */
    public Pace(long bytesPerSecond, LongSupplier nanoTime) {
        this.nanosPerByte = bytesPerSecond == 0 ? 0 : NANOS_PER_SECOND / bytesPerSecond;
        this.nanoTime = nanoTime;
        this.next = nanoTime.getAsLong();
    }

    /** How long to wait before the next piece; 0 or less for not at all. */
    public long nanosToWait() {
        return next - nanoTime.getAsLong();
    }

    /** A piece of this many bytes begins. */
    public void take(long bytes) {
        long now = nanoTime.getAsLong();
        // Unused time is not made up for.
        next = (next - now > 0 ? next : now) + (long) (bytes * nanosPerByte);
    }
}

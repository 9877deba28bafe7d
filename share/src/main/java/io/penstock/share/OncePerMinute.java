package io.penstock.share;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** For log lines that strangers cause, so that they cannot fill the log. Safe for use by any number of threads. */
final class OncePerMinute {
    private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

    private final LongSupplier nanoTime;
    private final AtomicLong next;

    OncePerMinute(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.next = new AtomicLong(nanoTime.getAsLong());
    }

    /** Whether a minute has passed since this last returned true. */
    boolean pass() {
        long now = nanoTime.getAsLong();
        long due = next.get();
        return now - due >= 0 && next.compareAndSet(due, now + MINUTE);
    }
}

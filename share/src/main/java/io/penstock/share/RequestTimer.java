package io.penstock.share;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Ends a request that makes no progress for too long, or takes too long in all. One thread reports progress; any may close
 * it.
 */
final class RequestTimer implements AutoCloseable {
    private final ScheduledExecutorService clock;
    private final Runnable end;
    private final long silenceNanos;
    private final long endNanos;

    /** {@link System#nanoTime}. */
    private volatile long progress = System.nanoTime();

    private volatile boolean expired;

    @GuardedBy("this")
    private @Nullable Future<?> scheduled;

    @GuardedBy("this")
    private boolean closed;

    /**
     * @param silence without progress
     * @param all from now on
     * @param end called once, on the clock's thread, which must not wait
     */
    RequestTimer(ScheduledExecutorService clock, Duration silence, Duration all, Runnable end) {
        this.clock = clock;
        this.end = end;
        this.silenceNanos = silence.toNanos();
        this.endNanos = progress + all.toNanos();
        look();
    }

    void progress() {
        progress = System.nanoTime();
    }

    /** Whether it has ended the request. */
    boolean isExpired() {
        return expired;
    }

    private void look() {
        long left = Math.min(progress + silenceNanos, endNanos) - System.nanoTime();
        synchronized (this) {
            if (closed) {
                return;
            }
            if (left > 0) {
                scheduled = schedule(left);
                return;
            }
            expired = true;
            end.run();
        }
    }

    private @Nullable Future<?> schedule(long nanos) {
        try {
            return clock.schedule(this::look, nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException ofAClosedGroup) {
            return null; // whose connections are closed, too
        }
    }

    /** After it, the request is not ended any more. */
    @Override
    public synchronized void close() {
        closed = true;
        if (scheduled != null) {
            scheduled.cancel(false);
        }
    }
}

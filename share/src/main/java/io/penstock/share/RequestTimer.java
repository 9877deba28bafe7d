package io.penstock.share;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Ends a request that makes no progress for too long, or takes too long in total. The first limit may change while the
 * request runs. One thread reports progress; any thread may close the timer.
 */
final class RequestTimer implements AutoCloseable {
    /** How late it may notice that the silence limit has become shorter. */
    private static final long LOOK_NANOS = Duration.ofMillis(100).toNanos();

    private final ScheduledExecutorService clock;
    private final Supplier<Duration> silence;
    private final long transferNanos;
    private final Runnable end;

    /** {@link System#nanoTime}, like the next field. */
    private final long begun = System.nanoTime();

    private volatile long progress = begun;

    private volatile boolean expired;

    @GuardedBy("this")
    private @Nullable Future<?> scheduled;

    @GuardedBy("this")
    private boolean closed;

    /**
     * @param silence the current limit without progress; called on the clock's thread, which must not wait
     * @param transfer the total limit from now on, to which one silence is added
     * @param end called once, on the clock's thread
     */
    RequestTimer(ScheduledExecutorService clock, Supplier<Duration> silence, Duration transfer, Runnable end) {
        this.clock = clock;
        this.silence = silence;
        this.transferNanos = transfer.toNanos();
        this.end = end;
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
        long silent = silence.get().toNanos();
        long now = System.nanoTime();
        long left = silent + Math.min(progress - now, begun + transferNanos - now);
        synchronized (this) {
            if (closed) {
                return;
            }
            if (left > 0) {
                scheduled = schedule(Math.min(left, LOOK_NANOS));
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
            return null; // the connections are closed too
        }
    }

    /** The timer no longer ends the request. */
    @Override
    public synchronized void close() {
        closed = true;
        if (scheduled != null) {
            scheduled.cancel(false);
        }
    }
}

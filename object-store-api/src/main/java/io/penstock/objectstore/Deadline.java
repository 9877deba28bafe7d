package io.penstock.objectstore;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * The time limit of one call, over all requests that the call makes: a fixed time after the call began or last made
 * progress. Received bytes, a page of a listing and a completed change are progress; other responses are not.
 *
 * <p>A {@link RetryPolicy} creates the deadline where the call begins, and {@link #call} applies it to all requests of
 * that thread. A call that continues in another thread passes it on there. A request without a deadline gets its own.
 * Safe for use by any number of threads.
 */
public final class Deadline {
    private static final ScopedValue<Deadline> CURRENT = ScopedValue.newInstance();

    /** The minimum time of an attempt, even one that begins after the deadline. */
    private static final Duration SHORTEST_ATTEMPT = Duration.ofSeconds(1);

    private final Duration timeout;
    private final String setting;

    /** {@link System#nanoTime} of the start or of the last progress. */
    @GuardedBy("this")
    private long since = System.nanoTime();

    /** The time in a queue of this process, until the store's responses during that time are taken into account. */
    @GuardedBy("this")
    private @Nullable Wait waited;

    /** Start and end, by {@link System#nanoTime}. */
    private record Wait(long from, long to) {}

    /**
     * @param timeout zero for one attempt, bounded only by the timeouts of the connection
     * @param setting the setting that configures it, for messages
     */
    public Deadline(Duration timeout, String setting) {
        this.timeout = timeout;
        this.setting = setting;
    }

    /** The work of one call. */
    @FunctionalInterface
    public interface Work<T extends @Nullable Object, E extends Exception> {
        T run() throws ObjectStoreException, InterruptedException, E;
    }

    /** A queue in this process in which a call waits for its turn. */
    @FunctionalInterface
    public interface Line {
        void await() throws InterruptedException;
    }

    /** The deadline that applies to this thread; null if there is none. */
    public static @Nullable Deadline current() {
        return CURRENT.isBound() ? CURRENT.get() : null;
    }

    /** Runs the work within this deadline. */
    public <T extends @Nullable Object, E extends Exception> T call(Work<T, E> work)
            throws ObjectStoreException, InterruptedException, E {
        try {
            return ScopedValue.where(CURRENT, this).call(work::run);
        } catch (RuntimeException | ObjectStoreException | InterruptedException e) {
            throw e;
        } catch (Exception e) {
            @SuppressWarnings("unchecked") // the work throws nothing else
            E declared = (E) e;
            throw declared;
        }
    }

    /** Runs the work within this deadline, unless one already applies to this thread. */
    public <T extends @Nullable Object, E extends Exception> T callUnlessWithin(Work<T, E> work)
            throws ObjectStoreException, InterruptedException, E {
        return CURRENT.isBound() ? work.run() : call(work);
    }

    /** Restarts the time: the store has made progress with the call, or a caller begins to wait for it. */
    public synchronized void restart() {
        since = System.nanoTime();
    }

    /** Another caller waits for the same result: extends this deadline to that caller's if that ends later. */
    public void extendTo(Deadline other) {
        extendTo(other.since());
    }

    private synchronized void extendTo(long begins) {
        if (begins - since > 0) {
            since = begins;
        }
    }

    /** The failure for a caller that has waited until this deadline was over. */
    public ObjectStoreException.Unavailable overdue(String what) {
        return new ObjectStoreException.Unavailable(what + explanation(), null);
    }

    /** Whether no further attempt may begin. */
    public boolean isOver() {
        return leftNanos() <= 0;
    }

    /** Records that the call has waited in a queue of this process since it began or last made progress. */
    public void stoodInLine() {
        stoodInLine(since());
    }

    private synchronized long since() {
        return since;
    }

    /**
     * Records that the call has waited in a queue of this process until now. The wait up to the store's last response
     * to any call does not count towards the deadline; the time of the call's own requests does.
     *
     * @param began {@link System#nanoTime} of the start of the wait
     */
    public synchronized void stoodInLine(long began) {
        waited = new Wait(waited == null ? began : waited.from, System.nanoTime());
    }

    /** Waits for the call's turn, and records the wait in the current deadline. */
    public static void standInLine(Line line) throws InterruptedException {
        long began = System.nanoTime();
        line.await();
        Deadline deadline = current();
        if (deadline != null) {
            deadline.stoodInLine(began);
        }
    }

    /** Acquires a permit, and records any wait for it in the current deadline. */
    public static void acquire(Semaphore permits) throws InterruptedException {
        if (!permits.tryAcquire()) {
            standInLine(permits::acquire);
        }
    }

    /** @param respondedAt {@link System#nanoTime} of the store's last response to any call */
    public synchronized void storeResponded(long respondedAt) {
        Wait wait = waited;
        if (wait == null) {
            return;
        }
        waited = null;
        long from = wait.from - since > 0 ? wait.from : since;
        long to = wait.to - respondedAt > 0 ? respondedAt : wait.to;
        since += Math.max(0, to - from);
    }

    /** Sleeps for the pause, but no longer than the deadline lasts. */
    public void sleep(Duration pause) throws InterruptedException {
        Thread.sleep(Duration.ofNanos(Math.clamp(leftNanos(), 0, pause.toNanos())));
    }

    /** The smaller of {@code longest} and the time left, where the time left counts as at least a second. */
    public Duration atMost(Duration longest) {
        if (timeout.isZero()) {
            return longest;
        }
        Duration left = Duration.ofNanos(Math.max(SHORTEST_ATTEMPT.toNanos(), leftNanos()));
        return left.compareTo(longest) < 0 ? left : longest;
    }

    /** Whether a running attempt must end now. Always false for a call that makes only one attempt. */
    public boolean isCut() {
        return !timeout.isZero() && isOver();
    }

    /** Whether a running attempt must end because {@link #isCut} holds and no byte has moved for {@code nanos}. */
    public boolean endsSilence(long nanos) {
        return isCut() && nanos > SHORTEST_ATTEMPT.toNanos();
    }

    private long leftNanos() {
        return timeout.toNanos() - (System.nanoTime() - since());
    }

    /** The end of an error message once the deadline is over; empty for a call that made one attempt. */
    public String explanation() {
        if (timeout.isZero()) {
            return "";
        }
        String time = timeout.toSeconds() > 0 ? timeout.toSeconds() + " s" : timeout.toMillis() + " ms";
        return "; given up after " + time + " without progress (" + setting + ")";
    }
}

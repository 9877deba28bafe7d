package io.penstock.objectstore;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Until when one call may go on, over all requests that it comes to: so long after it began, or after the store last got
 * on with it. Bytes that come, a page of a listing and a change that is made are progress; other answers are not.
 *
 * <p>It is made by a {@link RetryPolicy} where the call begins and handed down by {@link #call}: all requests of that
 * thread have it, and who goes on by another thread hands it on there. A request without one gets its own. Safe for use
 * by any number of threads.
 */
public final class Deadline {
    private static final ScopedValue<Deadline> CURRENT = ScopedValue.newInstance();

    /** What an attempt has in any case, also one that begins when the deadline is over. */
    private static final Duration LEAST_PATIENCE = Duration.ofSeconds(1);

    private final Duration patience;
    private final String setting;

    /** {@link System#nanoTime} of the beginning, or of the last progress. */
    private volatile long since = System.nanoTime();

    /** The call has waited for its turn among other calls since its last request. */
    private volatile boolean stoodInLine;

    /**
     * @param patience zero for one attempt, whose time only the timeouts of the connection bound
     * @param setting where a user sets it
     */
    Deadline(Duration patience, String setting) {
        this.patience = patience;
        this.setting = setting;
    }

    /** What a call does. */
    @FunctionalInterface
    public interface Work<T extends @Nullable Object, E extends Exception> {
        T run() throws ObjectStoreException, InterruptedException, E;
    }

    /** The one that this thread works within; null if there is none. */
    public static @Nullable Deadline current() {
        return CURRENT.isBound() ? CURRENT.get() : null;
    }

    /** Does the work within this. */
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

    /** Does the work within this, unless this thread works within one already. */
    public <T extends @Nullable Object, E extends Exception> T callUnlessWithin(Work<T, E> work)
            throws ObjectStoreException, InterruptedException, E {
        return CURRENT.isBound() ? work.run() : call(work);
    }

    /** The store got on with the call, or somebody begins to wait for it now. */
    public void restart() {
        since = System.nanoTime();
    }

    /** A caller waits for the same until another deadline: this is over when that is, or later. */
    public void extendTo(Deadline other) {
        long begins = other.since;
        if (begins - since > 0) {
            since = begins;
        }
    }

    /** What a caller is told that has waited until this was over. */
    public ObjectStoreException.Unavailable overdue(String what) {
        return new ObjectStoreException.Unavailable(what + explanation(), null);
    }

    /** Whether no further attempt may begin. */
    public boolean isOver() {
        return leftNanos() <= 0;
    }

    /**
     * The call has waited for its turn among our own. Until the store last answered anybody that is no silence of the
     * store's, and does not count.
     */
    public void stoodInLine() {
        stoodInLine = true;
    }

    /** Waits for a permit of our own. */
    static void acquire(Semaphore permits) throws InterruptedException {
        if (!permits.tryAcquire()) {
            permits.acquire();
            Deadline deadline = current();
            if (deadline != null) {
                deadline.stoodInLine();
            }
        }
    }

    /** @param respondedAt {@link System#nanoTime} at which the store last answered anybody */
    void storeResponded(long respondedAt) {
        if (stoodInLine) {
            stoodInLine = false;
            since = respondedAt - since > 0 ? respondedAt : since;
        }
    }

    /** At most until it is over. */
    void sleep(Duration pause) throws InterruptedException {
        Thread.sleep(Duration.ofNanos(Math.clamp(leftNanos(), 0, pause.toNanos())));
    }

    /** How long the way to a connection may last now. */
    Duration atMost(Duration longest) {
        if (patience.isZero()) {
            return longest;
        }
        Duration left = Duration.ofNanos(Math.max(LEAST_PATIENCE.toNanos(), leftNanos()));
        return left.compareTo(longest) < 0 ? left : longest;
    }

    /** Whether an attempt that is under way is to end; never that of a call that makes only one. */
    boolean isCut() {
        return !patience.isZero() && isOver();
    }

    /** {@link #isCut}, if no byte has moved for so long. */
    boolean endsSilence(long nanos) {
        return isCut() && nanos > LEAST_PATIENCE.toNanos();
    }

    private long leftNanos() {
        return patience.toNanos() - (System.nanoTime() - since);
    }

    /** What a user is to know when it is over; empty if there was one attempt. */
    String explanation() {
        if (patience.isZero()) {
            return "";
        }
        String time = patience.toSeconds() > 0 ? patience.toSeconds() + " s" : patience.toMillis() + " ms";
        return "; given up after " + time + " without progress (" + setting + ")";
    }
}

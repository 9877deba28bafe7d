package io.penstock.interleaving;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A call of one actor that may wait. Another actor ends it, so that a lost signal fails the test and does not hang it.
 * Neither actor leaves before the other is done: an interrupt that comes late would end a later call.
 */
public final class WaitingCall {
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(10);

    private volatile @Nullable Thread caller;
    private volatile boolean returned;
    private volatile boolean failed;
    private volatile boolean over;

    /** A call that waits. */
    @FunctionalInterface
    public interface Call {
        /** @return the result of an actor */
        int run() throws InterruptedException;
    }

    /**
     * Makes the call.
     *
     * @return what it returns; -1 if it was interrupted; -2 if it was overdue, or either actor has thrown an exception,
     *     which would end that actor's thread and leave the other one waiting
     */
    public int run(Call call) {
        int result;
        caller = Thread.currentThread();
        try {
            result = call.run();
        } catch (InterruptedException e) {
            result = -1;
        } catch (RuntimeException e) {
            result = -2;
        }
        returned = true;
        while (!over) {
            Thread.onSpinWait();
        }
        boolean _ = Thread.interrupted();
        return failed ? -2 : result; // a call whose signal was lost may have returned after all
    }

    /** By the other actor: does what the call waits for, at some moment after it has begun, and ends it. */
    public void serve(Runnable action) {
        while (caller == null) {
            Thread.onSpinWait();
        }
        Delay.upTo(5000);
        try {
            action.run();
        } catch (RuntimeException e) {
            failed = true;
        }
        end();
    }

    /** By the other actor: interrupts the call. */
    public void interrupt() {
        Thread thread = caller;
        if (thread != null) {
            thread.interrupt();
        }
    }

    /** Interrupts a call that waits all the same. */
    private void end() {
        long begun = System.nanoTime();
        while (!returned) {
            if (System.nanoTime() - begun > PATIENCE) {
                failed = true;
                interrupt();
            }
            Thread.onSpinWait();
        }
        over = true;
    }
}

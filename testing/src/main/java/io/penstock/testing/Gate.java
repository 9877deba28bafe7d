package io.penstock.testing;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.objectstore.Call;
import java.util.function.Predicate;

/**
 * Holds matching calls until the test releases them, so that the state while they wait can be checked without sleeping.
 * A GET is held after a number of bytes of its body; 0 holds calls of every kind before they reach the store. Closing
 * the gate's scope opens it. Thread-safe.
 */
public final class Gate implements AutoCloseable {
    /** Long enough for a loaded machine; reaching it is a failure, never a pass. */
    private static final long PATIENCE_MILLIS = 30_000;

    private final Predicate<Call> which;

    @GuardedBy("this")
    private long position;

    @GuardedBy("this")
    private int held;

    Gate(Predicate<Call> which, long position) {
        this.which = which;
        this.position = position;
    }

    boolean holds(Call call) {
        return which.test(call);
    }

    /**
     * Waits until at least this many calls are held here at the same time.
     *
     * @throws AssertionError if that does not happen in time
     */
    public synchronized void awaitHeld(int calls) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE_MILLIS * 1_000_000;
        while (held < calls) {
            long left = (deadline - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                throw new AssertionError("expected " + calls + " calls at the gate, found " + held);
            }
            wait(left);
        }
    }

    /** The number of calls held now. */
    public synchronized int held() {
        return held;
    }

    /** Lets every body through up to this many bytes after its range's start; never moves backwards. */
    public synchronized void advanceTo(long bytes) {
        position = Math.max(position, bytes);
        notifyAll();
    }

    /** Lets all calls through, including later ones. */
    public void open() {
        advanceTo(Long.MAX_VALUE);
    }

    @Override
    public void close() {
        open();
    }

    /** Waits while a call that has delivered this many bytes is held; returns how many more it may deliver. */
    synchronized long pass(long delivered) throws InterruptedException {
        if (delivered >= position) {
            held++;
            notifyAll();
            try {
                while (delivered >= position) {
                    wait();
                }
            } finally {
                held--;
            }
        }
        return position - delivered;
    }
}

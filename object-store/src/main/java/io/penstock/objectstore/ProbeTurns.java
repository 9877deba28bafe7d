package io.penstock.objectstore;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.objectstore.ConditionalWrites.Kind;
import java.util.EnumSet;
import java.util.Set;

/**
 * Lets one thread at a time probe for each kind of request: a rename of a directory begins with 64 requests of one kind at
 * once. Safe for use by any number of threads.
 */
final class ProbeTurns {
    @GuardedBy("this")
    private final Set<Kind> running = EnumSet.noneOf(Kind.class);

    /** @return whether the caller is to probe, and owes {@link #give}; false once another thread's turn has ended */
    synchronized boolean take(Kind kind) throws InterruptedException {
        if (running.add(kind)) {
            return true;
        }
        while (running.contains(kind)) {
            wait();
        }
        return false;
    }

    synchronized void give(Kind kind) {
        running.remove(kind);
        notifyAll();
    }
}

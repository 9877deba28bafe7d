package io.penstock.core;

import org.jspecify.annotations.Nullable;

/**
 * A request of the kernel that changes names or attributes, while this thread serves it. If the process ends before the
 * reply, the kernel sends the request again, to the next process of the mount, which is then in the position of a client
 * whose response was lost (ADR 33).
 *
 * @param mount a random number of the mount, the same in all its processes
 * @param number of the request in its mount, the same when it is sent again
 * @param isResent whether it was sent again: a former process may have executed it
 */
public record KernelRequest(long mount, long number, boolean isResent) {
    private static final ScopedValue<KernelRequest> CURRENT = ScopedValue.newInstance();

    /** Work that may fail with one kind of exception. */
    @FunctionalInterface
    public interface Work<T, X extends Exception> {
        T run() throws X;
    }

    /** The request that this thread serves; null if there is none. */
    public static @Nullable KernelRequest current() {
        return CURRENT.isBound() ? CURRENT.get() : null;
    }

    /** The request that this thread serves, if a former process may have executed it; null if not. */
    public static @Nullable KernelRequest resent() {
        KernelRequest current = current();
        return current != null && current.isResent ? current : null;
    }

    /** Whether this thread serves a request that a former process may have executed. */
    public static boolean mayBeDone() {
        return resent() != null;
    }

    /** Serves it in this thread. */
    public <T, X extends Exception> T serve(Work<T, X> work) throws X {
        return ScopedValue.where(CURRENT, this).<T, X>call(work::run);
    }
}

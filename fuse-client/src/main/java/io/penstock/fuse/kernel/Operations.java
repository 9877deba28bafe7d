package io.penstock.fuse.kernel;

import io.penstock.core.ErrnoException;
import io.penstock.filesystem.kernel.KernelCache;

/**
 * Serves all requests except INIT and INTERRUPT, which the session serves. Any number of threads call it concurrently.
 *
 * <p>A result is the length of the body in the reply, or an error number negated.
 */
interface Operations {
    /** A result: this request must wait; call {@link #serve}. */
    int WOULD_WAIT = Integer.MIN_VALUE;

    /** A result: the kernel does not wait for a reply. */
    int NO_REPLY = Integer.MIN_VALUE + 1;

    /**
     * Replies if that needs no waiting.
     *
     * @return a result, {@link #NO_REPLY} or {@link #WOULD_WAIT}
     */
    int serveNow(Request request, Reply reply) throws ErrnoException;

    /**
     * Replies, and may wait. An interrupt means that no process wants the reply any more.
     *
     * @return a result
     */
    int serve(Request request, Reply reply) throws ErrnoException;

    /**
     * Starts notices to the kernel about outdated cache contents.
     *
     * @return run at the end of the session
     */
    default Runnable connect(KernelCache kernel) {
        return () -> {};
    }

    /** The maximum size of the reply's body for this request, in bytes. */
    int bodyLimit(Request request) throws ErrnoException;
}

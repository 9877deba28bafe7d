package io.penstock.fuse.kernel;

import io.penstock.core.ErrnoException;
import io.penstock.core.NoWait;
import io.penstock.filesystem.kernel.KernelCache;

/**
 * Serves all requests except INIT and INTERRUPT, which the session serves. Any number of threads call it concurrently.
 *
 * <p>A result is the length of the body in the reply, or an error number negated.
 */
interface Operations {
    /** A result: the kernel does not wait for a reply. */
    int NO_REPLY = NoWait.WOULD_WAIT + 1;

    /**
     * Replies. While it waits, an interrupt means that no process wants the reply.
     *
     * @param mayWait if not, replies only if that needs no waiting
     * @return a result, {@link #NO_REPLY} or, only if it may not wait, {@link NoWait#WOULD_WAIT}
     */
    int serve(Request request, Reply reply, boolean mayWait) throws ErrnoException;

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

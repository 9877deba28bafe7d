package io.penstock.fuse.kernel;

import io.penstock.core.ErrnoException;
import io.penstock.filesystem.KernelCache;

/**
 * What answers requests: all but INIT and INTERRUPT, which are the session's. Called by any number of threads at a time.
 *
 * <p>A result is the length of the body that was made in the reply, or an error number negated.
 */
interface Operations {
    /** A result: this request has to wait for something, ask {@link #answer}. */
    int WOULD_WAIT = Integer.MIN_VALUE;

    /** A result: the kernel does not wait for an answer. */
    int NO_ANSWER = Integer.MIN_VALUE + 1;

    /**
     * Answers if nothing has to be waited for.
     *
     * @return a result, {@link #NO_ANSWER} or {@link #WOULD_WAIT}
     */
    int answerNow(Request request, Reply reply) throws ErrnoException;

    /**
     * Answers, and waits for what it takes. An interrupt says that nobody wants the answer any more.
     *
     * @return a result
     */
    int answer(Request request, Reply reply) throws ErrnoException;

    /**
     * Tells which kernel it is that is answered, so that it can be told what it may believe no longer.
     *
     * @return done at the end of the session
     */
    default Runnable connect(KernelCache kernel) {
        return () -> {};
    }

    /** The longest body that the answer to this request may have, in bytes. */
    int bodyLimit(Request request) throws ErrnoException;
}

package io.penstock.fuse.calls;

/**
 * Is told of each call of the kernel, just before its caller gets the reply, by the thread that serves it: it must not wait,
 * and may be called by any number of threads. Calls without a reply, such as FORGET, are not observed.
 */
@FunctionalInterface
public interface CallObserver {
    /** Observes nothing. */
    CallObserver NONE = (call, errno, bytes, nanos) -> {};

    /**
     * @param errno 0, or the number of the error that is the reply
     * @param bytes read or written; 0 for other calls, and for errors
     * @param nanos since the call reached this process
     */
    void ended(ObservedCall call, int errno, int bytes, long nanos);

    /** This one, then the other. */
    default CallObserver and(CallObserver other) {
        return (call, errno, bytes, nanos) -> {
            ended(call, errno, bytes, nanos);
            other.ended(call, errno, bytes, nanos);
        };
    }
}

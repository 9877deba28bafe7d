package io.penstock.fuse.calls;

/**
 * Notified of each kernel call, just before the caller gets its reply, on the thread that serves the call. It must not
 * wait, and may be called by any number of threads. Calls without a reply, such as FORGET, are not observed.
 */
@FunctionalInterface
public interface CallObserver {
    /** Observes nothing. */
    CallObserver NONE = (call, errno, bytes, nanos) -> {};

    /**
     * @param errno 0, or the reply's error number
     * @param bytes bytes read or written; 0 for other calls, and for errors
     * @param nanos nanoseconds since the call reached this process
     */
    void ended(ObservedCall call, int errno, int bytes, long nanos);

    /** Notifies this observer, then the other. */
    default CallObserver and(CallObserver other) {
        return (call, errno, bytes, nanos) -> {
            ended(call, errno, bytes, nanos);
            other.ended(call, errno, bytes, nanos);
        };
    }
}

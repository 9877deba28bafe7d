package io.penstock.fuse.calls;

import java.util.List;

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

    /** All of them, in this order. */
    static CallObserver all(List<CallObserver> observers) {
        if (observers.size() == 1) {
            return observers.getFirst();
        }
        CallObserver[] each = observers.toArray(CallObserver[]::new);
        return (call, errno, bytes, nanos) -> {
            for (CallObserver observer : each) {
                observer.ended(call, errno, bytes, nanos);
            }
        };
    }
}

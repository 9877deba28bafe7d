package io.penstock.prefetch;

import io.penstock.cache.Urgency;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;

/**
 * A source of bytes nearer than the store: the other nodes of a cache group. Bytes that it does not deliver come from
 * the store. Safe for use by any number of threads.
 */
@FunctionalInterface
public interface PeerSource {
    /** No other nodes. */
    PeerSource NONE = (version, range, urgency, sink) -> {};

    /**
     * Puts bytes of exactly this version into the sink, in order from the start of the range, as many as peers deliver
     * in time. All bytes in the sink are correct. Returns early where a peer is slow, gone or wrong, and throws no
     * other exception.
     *
     * @param urgency the peer serves demand first
     */
    void get(ObjectVersion version, ByteRange range, Urgency urgency, Sink sink) throws InterruptedException;

    /** Receives the bytes, and knows whether they have become urgent. */
    interface Sink extends BodySink {
        /** Whether a reader waits for bytes that have not arrived. For any thread; never waits. */
        boolean isAwaited();
    }

    /**
     * Where to ask peers again after the store had to deliver the byte at this position: another peer may have the
     * bytes that follow.
     *
     * @param position in bytes from the start of the object
     * @return a later position
     */
    default long boundary(ObjectVersion version, long position) {
        return Long.MAX_VALUE;
    }
}

package io.penstock.prefetch;

import io.penstock.cache.Urgency;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;

/**
 * Where bytes may be had nearer than the store: the other nodes of a cache group. What it does not deliver comes from the
 * store. Safe for use by any number of threads.
 */
@FunctionalInterface
public interface PeerSource {
    /** There are no other nodes. */
    PeerSource NONE = (version, range, urgency, sink) -> {};

    /**
     * Puts the bytes of exactly this version into the sink, in order from the start of the range: as many as a peer brings in
     * time. Bytes that the sink has got are right. It returns early, and throws nothing else, where a peer is slow, gone or
     * wrong.
     *
     * @param urgency what the peer does first
     */
    void get(ObjectVersion version, ByteRange range, Urgency urgency, Sink sink) throws InterruptedException;

    /** Takes the bytes, and knows whether they are urgent by now. */
    interface Sink extends BodySink {
        /** Whether a reader waits for bytes that have not arrived. Any thread may ask; it never waits. */
        boolean isAwaited();
    }

    /**
     * Where peers are asked again after the store had to bring the byte at this position: another one may have the
     * bytes that follow.
     *
     * @param position in bytes from the start of the object
     * @return a position after that
     */
    default long boundary(ObjectVersion version, long position) {
        return Long.MAX_VALUE;
    }
}

package io.penstock.core;

import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Buffers of one size outside the heap, each in use for a moment. Keeps as many as were in use at the same time. Safe
 * for use by any number of threads.
 */
public final class SpareBuffers {
    private final NativeMemory.Share share;
    private final int bytes;
    private final Queue<ByteBuffer> spare = new ConcurrentLinkedQueue<>();

    /** @param bytes of each buffer */
    public SpareBuffers(NativeMemory.Share share, int bytes) {
        this.share = share;
        this.bytes = bytes;
    }

    /**
     * A cleared buffer, whose bytes are left over from an earlier use.
     *
     * @throws NativeMemory.UsedUpException if there is no spare one and the JVM has no more memory
     */
    public ByteBuffer take() {
        ByteBuffer buffer = spare.poll();
        return buffer == null ? NativeMemory.allocate(share, bytes, 1) : buffer.clear();
    }

    /** @param buffer {@linkplain #take taken} here and no longer used; one that is not returned is garbage-collected */
    public void giveBack(ByteBuffer buffer) {
        spare.add(buffer);
    }
}

package io.penstock.testing;

import io.penstock.objectstore.BodySink;
import java.nio.ByteBuffer;

/** Collects a range's bytes in buffers of a given size, so that a test controls where buffers end. */
public final class CollectingSink implements BodySink {
    private final ByteBuffer all;
    private final int bufferSize;
    private ByteBuffer current = ByteBuffer.allocate(0);

    /** One direct buffer for all bytes. */
    public CollectingSink(int capacity) {
        this(ByteBuffer.allocateDirect(capacity), capacity);
    }

    /** Hands out pieces of {@code all} of at most {@code bufferSize} bytes. */
    public CollectingSink(ByteBuffer all, int bufferSize) {
        this.all = all;
        this.bufferSize = bufferSize;
    }

    @Override
    public ByteBuffer buffer() {
        if (!current.hasRemaining()) {
            int length = Math.min(bufferSize, all.remaining());
            current = all.slice(all.position(), length);
        }
        return current;
    }

    @Override
    public void filled(int bytes) {
        all.position(all.position() + bytes);
    }

    /** The bytes received so far. */
    public byte[] bytes() {
        byte[] bytes = new byte[all.position()];
        all.get(0, bytes);
        return bytes;
    }
}

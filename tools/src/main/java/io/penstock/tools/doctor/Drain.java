package io.penstock.tools.doctor;

import io.penstock.objectstore.BodySink;
import java.nio.ByteBuffer;

/** Discards the few bytes that a trial reads. Used by one thread at a time. */
final class Drain implements BodySink {
    private final ByteBuffer buffer = ByteBuffer.allocate(64);

    @Override
    public ByteBuffer buffer() {
        return buffer.clear();
    }

    @Override
    public void filled(int bytes) {}
}

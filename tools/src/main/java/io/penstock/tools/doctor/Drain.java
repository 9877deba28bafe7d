package io.penstock.tools.doctor;

import io.penstock.objectstore.BodySink;
import java.nio.ByteBuffer;

/** Forgets the few bytes that a trial reads. One thread at a time. */
final class Drain implements BodySink {
    private final ByteBuffer buffer = ByteBuffer.allocate(64);

    @Override
    public ByteBuffer buffer() {
        return buffer.clear();
    }

    @Override
    public void filled(int bytes) {}
}

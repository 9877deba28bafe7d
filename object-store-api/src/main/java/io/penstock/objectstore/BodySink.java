package io.penstock.objectstore;

import java.nio.ByteBuffer;

/**
 * Receives the bytes of an object as they arrive. The sink owns the memory, so bytes travel from the socket to their
 * final place without an intermediate copy. Called by one thread at a time.
 */
public interface BodySink {
    /**
     * The buffer to fill next. The store puts at least one and at most {@code remaining()} bytes at its position, then
     * calls {@link #filled}. The buffer has remaining bytes as long as the requested range is incomplete. May wait.
     */
    ByteBuffer buffer() throws InterruptedException;

    /** Reports that the buffer last returned holds {@code bytes} more bytes; its position is after them. */
    void filled(int bytes);
}

package io.penstock.objectstore;

import java.nio.ByteBuffer;

/**
 * Where the bytes of an object go as they arrive. The sink owns the memory, so that bytes can travel from the socket
 * to their final place without a copy in between. Called by one thread at a time.
 */
public interface BodySink {
    /**
     * The buffer to fill next: the store puts at least one and at most {@code remaining()} bytes at its position, then
     * calls {@link #filled}. Never without remaining bytes while the requested range is incomplete. May wait.
     */
    ByteBuffer buffer() throws InterruptedException;

    /** Tells that {@code bytes} more bytes are in the buffer last handed out: its position stands after them. */
    void filled(int bytes);
}

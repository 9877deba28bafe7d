package io.penstock.objectstore;

import java.nio.ByteBuffer;

/**
 * Where the bytes of an object go as they arrive. The sink owns the memory, so that bytes travel from the socket to
 * their final place without a copy in between. One thread at a time calls it.
 */
public interface BodySink {
    /**
     * The buffer to fill next. The store puts at least one and at most {@code remaining()} bytes at its position, then
     * calls {@link #filled}. The buffer has remaining bytes as long as the requested range is incomplete. May wait.
     */
    ByteBuffer buffer() throws InterruptedException;

    /** Reports that the buffer last handed out holds {@code bytes} more bytes; its position stands after them. */
    void filled(int bytes);
}

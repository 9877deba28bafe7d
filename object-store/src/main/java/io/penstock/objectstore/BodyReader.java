package io.penstock.objectstore;

import java.nio.ByteBuffer;

/** Gives a body's bytes to whoever sends them. */
@FunctionalInterface
interface BodyReader {
    /** No bytes. */
    BodyReader NOTHING = (_, _) -> {};

    /**
     * Fills all that remains of {@code target}.
     *
     * @param offset of the first byte to read
     * @throws RuntimeException if they cannot be read: not an {@link java.io.IOException}, which tells of the network
     */
    void read(long offset, ByteBuffer target);
}

package io.penstock.objectstore;

import java.nio.ByteBuffer;

/** Gives the sender the bytes of a body. */
@FunctionalInterface
interface BodyReader {
    /** No bytes. */
    BodyReader NOTHING = (_, _) -> {};

    /**
     * Fills all that remains of {@code target}.
     *
     * @param offset of the first byte to read
     * @throws RuntimeException if the bytes cannot be read; an {@link java.io.IOException} would stand for a network
     *     failure
     */
    void read(long offset, ByteBuffer target);
}

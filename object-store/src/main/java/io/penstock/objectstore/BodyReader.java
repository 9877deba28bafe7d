package io.penstock.objectstore;

import java.nio.ByteBuffer;

/** Provides the bytes of a body to the sender. */
@FunctionalInterface
interface BodyReader {
    /** No bytes. */
    BodyReader NOTHING = (_, _) -> {};

    /**
     * Fills the remaining space of {@code target}.
     *
     * @param offset of the first byte to read
     * @throws RuntimeException if the bytes cannot be read; an {@link java.io.IOException} would mean a network failure
     */
    void read(long offset, ByteBuffer target);
}

package io.penstock.objectstore;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.OptionalInt;

/** Bytes to send. Every attempt must read the same bytes. One thread at a time reads them. */
public interface UploadBody {
    /** The body of an empty object. */
    UploadBody EMPTY = new ZeroBody(0);

    /** The length in bytes; 0 or more. */
    long length();

    /** The CRC32C of all bytes, if it is known before they are sent. The store is asked to verify it. */
    OptionalInt crc32c();

    /**
     * Fills the remaining space of {@code target}.
     *
     * @param offset of the first byte to read; enough bytes must follow it
     * @throws IOException if the bytes cannot be read; then nothing is sent
     */
    void read(long offset, ByteBuffer target) throws IOException, InterruptedException;
}

package io.penstock.objectstore;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.OptionalInt;

/** Bytes to send, as often as it takes: every attempt must find the same ones. Read by one thread at a time. */
public interface UploadBody {
    /** Bytes; 0 or more. */
    long length();

    /** The CRC32C of all bytes, where it is known before they are sent: the store is asked to check it. */
    OptionalInt crc32c();

    /**
     * Fills all that remains of {@code target}.
     *
     * @param offset of the first byte to read; so many bytes must follow it
     * @throws IOException if they cannot be read; nothing is sent then
     */
    void read(long offset, ByteBuffer target) throws IOException, InterruptedException;
}

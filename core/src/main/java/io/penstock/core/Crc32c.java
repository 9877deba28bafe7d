package io.penstock.core;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** Sums of single buffers. */
public final class Crc32c {
    private Crc32c() {}

    /** CRC32C (RFC 3720) of the bytes that the buffer has left, which stay. */
    public static int of(ByteBuffer bytes) {
        CRC32C sum = new CRC32C();
        sum.update(bytes.duplicate());
        return (int) sum.getValue();
    }
}

package io.penstock.core;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** CRC32C checksums of single buffers. */
public final class Crc32c {
    private Crc32c() {}

    /** The CRC32C (RFC 3720) of the buffer's remaining bytes. The buffer's position does not change. */
    public static int of(ByteBuffer bytes) {
        CRC32C sum = new CRC32C();
        sum.update(bytes.duplicate());
        return (int) sum.getValue();
    }
}

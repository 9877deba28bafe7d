package io.penstock.objectstore;

import java.nio.ByteBuffer;
import java.util.OptionalInt;

/**
 * A body of zeros.
 *
 * @param length bytes; 0 or more
 */
public record ZeroBody(long length) implements UploadBody {
    @Override
    public OptionalInt crc32c() {
        return length == 0 ? OptionalInt.of(0) : OptionalInt.empty();
    }

    @Override
    public void read(long offset, ByteBuffer target) {
        while (target.hasRemaining()) {
            target.put((byte) 0);
        }
    }
}

package io.penstock.cli.doctor;

import io.penstock.objectstore.UploadBody;
import java.nio.ByteBuffer;
import java.util.OptionalInt;

/** So many zeros. */
record ZeroBody(long length) implements UploadBody {
    @Override
    public OptionalInt crc32c() {
        return OptionalInt.empty();
    }

    @Override
    public void read(long offset, ByteBuffer target) {
        while (target.hasRemaining()) {
            target.put((byte) 0);
        }
    }
}

package io.penstock.filesystem;

import io.penstock.objectstore.UploadBody;
import java.nio.ByteBuffer;
import java.util.OptionalInt;

/** No bytes: what marks a directory. */
enum EmptyBody implements UploadBody {
    INSTANCE;

    @Override
    public long length() {
        return 0;
    }

    @Override
    public OptionalInt crc32c() {
        return OptionalInt.of(0);
    }

    @Override
    public void read(long offset, ByteBuffer target) {}
}

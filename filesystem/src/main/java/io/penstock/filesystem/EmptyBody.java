package io.penstock.filesystem;

import io.penstock.objectstore.UploadBody;
import java.nio.ByteBuffer;
import java.util.OptionalInt;

/** No bytes: of what marks a directory, and of a file that is made before it is written. */
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

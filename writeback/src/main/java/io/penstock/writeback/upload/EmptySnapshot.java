package io.penstock.writeback.upload;

import java.nio.ByteBuffer;
import java.util.OptionalInt;

/** The body of an empty object. */
public final class EmptySnapshot implements FileContent.SnapshotBody {
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

    @Override
    public void close() {}
}

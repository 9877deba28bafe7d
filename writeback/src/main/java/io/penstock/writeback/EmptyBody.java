package io.penstock.writeback;

import java.io.InputStream;
import java.util.OptionalInt;

/** The body of an empty object. */
final class EmptyBody implements FileContent.StillBody {
    @Override
    public long length() {
        return 0;
    }

    @Override
    public OptionalInt crc32c() {
        return OptionalInt.of(0);
    }

    @Override
    public InputStream open() {
        return InputStream.nullInputStream();
    }

    @Override
    public void close() {}
}

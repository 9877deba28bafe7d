package io.penstock.testing;

import io.penstock.objectstore.UploadBody;
import java.nio.ByteBuffer;
import java.util.OptionalInt;
import java.util.Random;

/** A body in memory. */
public final class BytesBody implements UploadBody {
    private final byte[] bytes;
    private final OptionalInt crc32c;

    private BytesBody(byte[] bytes, OptionalInt crc32c) {
        this.bytes = bytes;
        this.crc32c = crc32c;
    }

    /** These bytes with their checksum. */
    public static BytesBody of(byte[] bytes) {
        return new BytesBody(bytes, OptionalInt.of(Bodies.crc32c(bytes)));
    }

    /** Random bytes from a seed, with their checksum. */
    public static BytesBody random(int size, long seed) {
        byte[] bytes = new byte[size];
        new Random(seed).nextBytes(bytes);
        return of(bytes);
    }

    public BytesBody withoutChecksum() {
        return new BytesBody(bytes, OptionalInt.empty());
    }

    public BytesBody withWrongChecksum() {
        return new BytesBody(bytes, OptionalInt.of(crc32c.orElseThrow() + 1));
    }

    public byte[] bytes() {
        return bytes;
    }

    @Override
    public OptionalInt crc32c() {
        return crc32c;
    }

    @Override
    public long length() {
        return bytes.length;
    }

    @Override
    public void read(long offset, ByteBuffer target) {
        target.put(bytes, Math.toIntExact(offset), target.remaining());
    }
}

package io.penstock.objectstore;

import java.nio.ByteBuffer;
import java.util.OptionalInt;
import java.util.Random;
import java.util.zip.CRC32C;

/** A body in memory. */
final class BytesBody implements UploadBody {
    private final byte[] bytes;
    private final OptionalInt crc32c;

    private BytesBody(byte[] bytes, OptionalInt crc32c) {
        this.bytes = bytes;
        this.crc32c = crc32c;
    }

    /** These bytes with their checksum. */
    static BytesBody of(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return new BytesBody(bytes, OptionalInt.of((int) crc.getValue()));
    }

    /** Random bytes from a seed, with their checksum. */
    static BytesBody random(int size, long seed) {
        byte[] bytes = new byte[size];
        new Random(seed).nextBytes(bytes);
        return of(bytes);
    }

    BytesBody withoutChecksum() {
        return new BytesBody(bytes, OptionalInt.empty());
    }

    BytesBody withWrongChecksum() {
        return new BytesBody(bytes, OptionalInt.of(crc32c.orElseThrow() + 1));
    }

    byte[] bytes() {
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

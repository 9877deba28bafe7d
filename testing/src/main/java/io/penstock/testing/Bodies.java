package io.penstock.testing;

import io.penstock.objectstore.UploadBody;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.OptionalInt;
import java.util.zip.CRC32C;

/** Bodies for tests to send. */
public final class Bodies {
    private static final int CHUNK = 64 << 10;

    private Bodies() {}

    /** These bytes with their checksum. */
    public static UploadBody of(byte[] bytes) {
        return BytesBody.of(bytes);
    }

    /** A range of a content, without a checksum. */
    public static UploadBody of(Content content, long start, long length) {
        return new UploadBody() {
            @Override
            public long length() {
                return length;
            }

            @Override
            public OptionalInt crc32c() {
                return OptionalInt.empty();
            }

            @Override
            public void read(long offset, ByteBuffer target) {
                content.read(start + offset, target);
            }
        };
    }

    /** The checksum of these bytes. */
    public static int crc32c(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return (int) crc.getValue();
    }

    /** All bytes of the body. */
    static byte[] read(UploadBody body) throws IOException, InterruptedException {
        byte[] bytes = new byte[Math.toIntExact(body.length())];
        body.read(0, ByteBuffer.wrap(bytes));
        return bytes;
    }

    /** The checksum of the whole body. */
    static int crc32c(UploadBody body) throws IOException, InterruptedException {
        CRC32C crc = new CRC32C();
        ByteBuffer buffer = ByteBuffer.allocate(CHUNK);
        for (long read = 0; read < body.length(); read += CHUNK) {
            body.read(read, buffer.clear().limit((int) Math.min(CHUNK, body.length() - read)));
            crc.update(buffer.flip());
        }
        return (int) crc.getValue();
    }
}

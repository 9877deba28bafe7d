package io.penstock.objectstore.s3;

import io.penstock.core.Digests;
import io.penstock.objectstore.UploadBody;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** Checksums of bodies in S3's text form: Base64 of the checksum's bytes, big-endian. */
final class BodyChecksums {
    private static final int CHUNK = 128 << 10;

    private BodyChecksums() {}

    static String encode(int crc32c) {
        return Base64.getEncoder()
                .encodeToString(
                        ByteBuffer.allocate(Integer.BYTES).putInt(crc32c).array());
    }

    /** Reverses {@link #encode}. Empty for null, and for a text that is not the checksum of a whole object or part. */
    static OptionalInt decode(@Nullable String crc32c) {
        if (crc32c == null || crc32c.length() != 8) {
            return OptionalInt.empty();
        }
        return OptionalInt.of(
                ByteBuffer.wrap(Base64.getDecoder().decode(crc32c)).getInt());
    }

    /** The checksum that the body knows; otherwise computed, which reads the whole body. */
    static OptionalInt crc32c(UploadBody body) throws IOException, InterruptedException {
        if (body.crc32c().isPresent()) {
            return body.crc32c();
        }
        CRC32C crc = new CRC32C();
        readAll(body, crc::update);
        return OptionalInt.of((int) crc.getValue());
    }

    static byte[] md5(UploadBody body) throws IOException, InterruptedException {
        MessageDigest md5 = md5();
        readAll(body, md5::update);
        return md5.digest();
    }

    static MessageDigest md5() {
        return Digests.of("MD5");
    }

    private static void readAll(UploadBody body, Consumer<ByteBuffer> consumer)
            throws IOException, InterruptedException {
        ByteBuffer chunk = ByteBuffer.allocate(Math.clamp(body.length(), 1, CHUNK));
        for (long read = 0; read < body.length(); read += CHUNK) {
            body.read(read, chunk.clear().limit((int) Math.min(CHUNK, body.length() - read)));
            consumer.accept(chunk.flip());
        }
    }
}

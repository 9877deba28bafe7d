package io.penstock.objectstore.s3;

import io.penstock.core.Digests;
import io.penstock.objectstore.http.ResponseHead;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/**
 * A body's checksum according to its response, and that of the bytes received so far. Supports S3's checksums that the
 * JDK computes, so not CRC64NVME; nor does the SDK without its native library. Confined to one thread.
 */
final class ExpectedChecksum {
    private static final String HEADER = "x-amz-checksum-";

    private final String algorithm;
    private final Sum sum;
    private final byte[] expected;

    private interface Sum {
        void update(ByteBuffer bytes);

        byte[] value();
    }

    /** The algorithms, fastest first. */
    private enum Algorithm {
        CRC32C(4),
        CRC32(4),
        SHA1(20),
        SHA256(32);

        private final int bytes;

        Algorithm(int bytes) {
            this.bytes = bytes;
        }

        Sum begin() {
            return switch (this) {
                case CRC32C -> sumOf(new CRC32C());
                case CRC32 -> sumOf(new CRC32());
                case SHA1 -> sumOf(Digests.of("SHA-1"));
                case SHA256 -> sumOf(Digests.sha256());
            };
        }
    }

    private ExpectedChecksum(String algorithm, Sum sum, byte[] expected) {
        this.algorithm = algorithm;
        this.sum = sum;
        this.expected = expected;
    }

    /** The checksum in a response to a GET of a whole object; null if it has none that can be compared. */
    static @Nullable ExpectedChecksum of(ResponseHead head) {
        for (Algorithm algorithm : Algorithm.values()) {
            byte[] expected = decode(head.header(HEADER + algorithm));
            if (expected.length == algorithm.bytes) {
                return new ExpectedChecksum(algorithm.name(), algorithm.begin(), expected);
            }
        }
        return null;
    }

    /**
     * Empty for null, and for a value that is not a checksum of all bytes: that of a multipart object ends with the
     * number of parts.
     */
    private static byte[] decode(@Nullable String text) {
        try {
            return text == null ? new byte[0] : Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException _) {
            return new byte[0];
        }
    }

    /** Adds the next bytes of the body, from the buffer's position to its limit. */
    void update(ByteBuffer bytes) {
        sum.update(bytes);
    }

    /** @throws DamagedBodyException if the added bytes do not match the checksum */
    void check() throws DamagedBodyException {
        if (!MessageDigest.isEqual(sum.value(), expected)) {
            throw new DamagedBodyException("its " + algorithm + " does not match its bytes");
        }
    }

    private static Sum sumOf(Checksum checksum) {
        return new Sum() {
            @Override
            public void update(ByteBuffer bytes) {
                checksum.update(bytes);
            }

            @Override
            public byte[] value() {
                return ByteBuffer.allocate(Integer.BYTES)
                        .putInt((int) checksum.getValue())
                        .array();
            }
        };
    }

    private static Sum sumOf(MessageDigest digest) {
        return new Sum() {
            @Override
            public void update(ByteBuffer bytes) {
                digest.update(bytes);
            }

            @Override
            public byte[] value() {
                return digest.digest();
            }
        };
    }
}

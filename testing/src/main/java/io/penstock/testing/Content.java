package io.penstock.testing;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** An object's bytes: held, or made up by offset so that an object of any size takes no memory. Immutable. */
public interface Content {
    /** In bytes. */
    long size();

    /** The entity tag with its quotes. Equal tags mean equal bytes. */
    String etag();

    /** Fills all that remains of {@code target} with the bytes from {@code offset} on; they must exist. */
    void read(long offset, ByteBuffer target);

    /** These bytes, held; their entity tag is their MD5, as S3 does it. */
    static Content of(byte[] bytes) {
        return new Held(bytes.clone());
    }

    /** Bytes in memory. */
    final class Held implements Content {
        private final byte[] bytes;
        private final String etag;

        private Held(byte[] bytes) {
            this.bytes = bytes;
            try {
                byte[] md5 = MessageDigest.getInstance("MD5").digest(bytes);
                etag = '"' + HexFormat.of().formatHex(md5) + '"';
            } catch (NoSuchAlgorithmException e) {
                throw new AssertionError("every JDK has MD5", e);
            }
        }

        @Override
        public long size() {
            return bytes.length;
        }

        @Override
        public String etag() {
            return etag;
        }

        @Override
        public void read(long offset, ByteBuffer target) {
            target.put(bytes, Math.toIntExact(offset), target.remaining());
        }
    }
}

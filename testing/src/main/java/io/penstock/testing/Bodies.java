package io.penstock.testing;

import io.penstock.objectstore.UploadBody;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.OptionalInt;
import java.util.zip.CRC32C;

/** Bodies for tests to send. */
public final class Bodies {
    /** No bytes. */
    public static final UploadBody EMPTY = of(new byte[0]);

    private Bodies() {}

    /** These bytes, with their checksum. */
    public static UploadBody of(byte[] bytes) {
        return new Body(bytes.length, OptionalInt.of(crc32c(bytes))) {
            @Override
            public InputStream open() {
                return new ByteArrayInputStream(bytes);
            }
        };
    }

    /** A range of a content, made up or held, without a checksum. */
    public static UploadBody of(Content content, long offset, long length) {
        return new Body(length, OptionalInt.empty()) {
            @Override
            public InputStream open() {
                return new ContentStream(content, offset, offset + length);
            }
        };
    }

    /** The checksum of these bytes. */
    public static int crc32c(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return (int) crc.getValue();
    }

    /** All that the body gives, which must be as much as it says. */
    static byte[] read(UploadBody body) throws IOException, InterruptedException {
        try (InputStream in = body.open()) {
            byte[] bytes = in.readNBytes(Math.toIntExact(body.length()));
            checkLength(body, bytes.length, in);
            return bytes;
        } catch (InterruptedIOException e) {
            throw (InterruptedException) new InterruptedException().initCause(e);
        }
    }

    /** The checksum of all that the body gives, which must be as much as it says. */
    static int crc32c(UploadBody body) throws IOException, InterruptedException {
        CRC32C crc = new CRC32C();
        byte[] buffer = new byte[64 << 10];
        try (InputStream in = body.open()) {
            long length = 0;
            for (int n = 0; n >= 0 && length < body.length(); n = in.read(buffer)) {
                crc.update(buffer, 0, n);
                length += n;
            }
            checkLength(body, length, in);
            return (int) crc.getValue();
        } catch (InterruptedIOException e) {
            throw (InterruptedException) new InterruptedException().initCause(e);
        }
    }

    private static void checkLength(UploadBody body, long length, InputStream rest) throws IOException {
        if (length != body.length() || rest.read() >= 0) {
            throw new IllegalStateException("a body of " + body.length() + " bytes gave "
                    + (length < body.length() ? "only " + length : "more"));
        }
    }

    private abstract static class Body implements UploadBody {
        private final long length;
        private final OptionalInt crc32c;

        Body(long length, OptionalInt crc32c) {
            this.length = length;
            this.crc32c = crc32c;
        }

        @Override
        public long length() {
            return length;
        }

        @Override
        public OptionalInt crc32c() {
            return crc32c;
        }
    }

    /** Confined to one thread. */
    private static final class ContentStream extends InputStream {
        private final Content content;
        private final long end;
        private long position;

        ContentStream(Content content, long position, long end) {
            this.content = content;
            this.position = position;
            this.end = end;
        }

        @Override
        public int read() {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            if (position == end && length > 0) {
                return -1;
            }
            int given = (int) Math.min(length, end - position);
            content.read(position, ByteBuffer.wrap(target, offset, given));
            position += given;
            return given;
        }
    }
}

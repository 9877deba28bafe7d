package io.penstock.writeback;

import io.penstock.core.ByteRange;
import io.penstock.objectstore.ObjectStoreException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.OptionalInt;

/** A range of a file, held as it was. */
final class StillContent implements FileContent.StillBody {
    private final WrittenFile file;
    private final Content content;
    private final Ground ground;
    private final ByteRange range;

    /**
     * @param content held by the caller, to be let go by this
     * @param ground in use by the caller, to be released by this
     */
    StillContent(WrittenFile file, Content content, Ground ground, ByteRange range) {
        this.file = file;
        this.content = content;
        this.ground = ground;
        this.range = range;
    }

    /** Guarded by the file's lock. */
    Content content() {
        return content;
    }

    Ground ground() {
        return ground;
    }

    @Override
    public long length() {
        return range.length();
    }

    @Override
    public OptionalInt crc32c() {
        return OptionalInt.empty();
    }

    @Override
    public InputStream open() {
        return new Bytes();
    }

    @Override
    public void close() {
        file.letGo(this);
    }

    /** Confined to one thread at a time. */
    private final class Bytes extends InputStream {
        private long position = range.offset();

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            int count = (int) Math.min(length, range.end() - position);
            if (count == 0) {
                return length == 0 ? 0 : -1;
            }
            try {
                file.read(StillContent.this, position, ByteBuffer.wrap(target, offset, count));
            } catch (ObjectStoreException e) {
                throw new IOException("what is below the written bytes cannot be read: " + e.getMessage(), e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while reading what is below the written bytes");
            }
            position += count;
            return count;
        }
    }
}

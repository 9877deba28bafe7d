package io.penstock.objectstore.s3;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.UploadBody;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.OptionalInt;

/** A range of a stored object as a body to send, for stores that cannot copy. One thread at a time. */
final class StoredBody implements UploadBody {
    /** Bytes that one request reads: a body is read in order, in small pieces. */
    private static final int WINDOW = 4 << 20;

    private final BucketReader reader;
    private final ObjectVersion version;
    private final ByteRange range;

    /** The part of the range that starts at {@link #windowFrom}. */
    private ByteBuffer window = ByteBuffer.allocate(0);

    private long windowFrom;

    StoredBody(BucketReader reader, ObjectVersion version, ByteRange range) {
        this.reader = reader;
        this.version = version;
        this.range = range;
    }

    /** Runs a way that sends such a body. A failure of the store is thrown as itself, not as an IOException. */
    static <T> T sending(Gaps.Way<T, IOException> way) throws ObjectStoreException, InterruptedException {
        try {
            return way.go();
        } catch (IOException e) {
            if (e.getCause() instanceof ObjectStoreException failure) {
                throw failure;
            }
            throw new IllegalStateException("of a body in the store", e);
        }
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
    public void read(long offset, ByteBuffer target) throws IOException, InterruptedException {
        for (long at = offset; target.hasRemaining(); ) {
            if (at < windowFrom || at >= windowFrom + window.limit()) {
                load(at);
            }
            int from = (int) (at - windowFrom);
            int length = Math.min(target.remaining(), window.limit() - from);
            target.put(window.slice(from, length));
            at += length;
        }
    }

    private void load(long at) throws IOException, InterruptedException {
        int length = (int) Math.min(WINDOW, range.length() - at);
        ByteBuffer loaded = ByteBuffer.allocate(length);
        try {
            reader.get(version, new ByteRange(range.offset() + at, length), new Sink(loaded));
        } catch (ObjectStoreException e) {
            throw new IOException(e.getMessage(), e);
        }
        window = loaded.flip();
        windowFrom = at;
    }

    private record Sink(ByteBuffer buffer) implements BodySink {
        @Override
        public void filled(int bytes) {
            // it is filled in place
        }
    }
}

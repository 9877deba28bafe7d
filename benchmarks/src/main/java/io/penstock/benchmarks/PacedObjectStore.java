package io.penstock.benchmarks;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.testing.ForwardingObjectStore;
import io.penstock.testing.InMemoryObjectStore;
import java.nio.ByteBuffer;
import java.time.Duration;

/**
 * A store that takes S3's time and nothing else: each GET waits for its first byte, then its bytes come at the rate of
 * one connection. The bytes are the arbitrary content of the buffer, so that only the calling code is measured.
 */
final class PacedObjectStore extends ForwardingObjectStore {
    /** As a socket would hand them over. */
    private static final int SLICE = 128 << 10;

    private final Duration firstByte;
    private final long bytesPerSecond;

    /**
     * @param firstByte the time before a body begins
     * @param bytesPerSecond of one GET
     */
    PacedObjectStore(Duration firstByte, long bytesPerSecond) {
        super(new InMemoryObjectStore());
        this.firstByte = firstByte;
        this.bytesPerSecond = bytesPerSecond;
    }

    @Override
    public void get(ObjectVersion version, ByteRange range, BodySink sink) throws InterruptedException {
        Thread.sleep(firstByte);
        long start = System.nanoTime();
        for (long sent = 0; sent < range.length(); ) {
            ByteBuffer buffer = sink.buffer();
            int slice = (int) Math.min(Math.min(buffer.remaining(), SLICE), range.length() - sent);
            long due = start + Math.multiplyExact(sent + slice, 1_000_000_000L) / bytesPerSecond;
            long early = due - System.nanoTime();
            if (early > 0) {
                Thread.sleep(Duration.ofNanos(early));
            }
            buffer.position(buffer.position() + slice);
            sink.filled(slice);
            sent += slice;
        }
    }
}

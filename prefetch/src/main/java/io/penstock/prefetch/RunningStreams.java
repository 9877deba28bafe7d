package io.penstock.prefetch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.cache.PageCache;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The running streams of a mount, and the memory that their windows share. Readahead beyond that memory would be
 * evicted before it is read, and would have to be read from disk. Safe for use by any number of threads.
 */
final class RunningStreams {
    /** A stream without a read for this long leaves its share to the others. */
    static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** However many streams there are, each may have the page after the one being read. */
    static final long LEAST_SHARE = 2L * PageCache.PAGE_SIZE;

    private final LongSupplier bytes;
    private final LongSupplier nanoTime;

    @GuardedBy("this")
    private final Set<Stream> streams = new HashSet<>();

    private volatile long sweptAt;
    private volatile int sharing = 1;

    /**
     * @param bytes the memory for all windows together; called each time, because less may become available
     * @param nanoTime such as {@link System#nanoTime}
     */
    RunningStreams(LongSupplier bytes, LongSupplier nanoTime) {
        this.bytes = bytes;
        this.nanoTime = nanoTime;
        this.sweptAt = nanoTime.getAsLong();
    }

    /**
     * Notes a read of a running stream. Rarely waits for another thread.
     *
     * @return the size that its window may have now, in bytes
     */
    long readFrom(Stream stream) {
        long now = nanoTime.getAsLong();
        stream.readAt = now;
        if (!stream.shares || now - sweptAt > IDLE_NANOS) {
            add(stream, now);
        }
        return Math.max(LEAST_SHARE, bytes.getAsLong() / sharing);
    }

    private synchronized void add(Stream stream, long now) {
        sweptAt = now;
        streams.removeIf(other -> {
            other.shares = now - other.readAt <= IDLE_NANOS;
            return !other.shares;
        });
        streams.add(stream);
        stream.shares = true;
        share();
    }

    /** The stream no longer needs a share: its file has ended or is closed, or it is no longer a stream. */
    void ended(Stream stream) {
        if (stream.shares) {
            remove(stream);
        }
    }

    private synchronized void remove(Stream stream) {
        streams.remove(stream);
        stream.shares = false;
        share();
    }

    @GuardedBy("this")
    private void share() {
        sharing = Math.max(1, streams.size());
    }
}

package io.penstock.prefetch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.cache.PageCache;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The streams of a mount that run, and the memory that their windows share: what is read ahead beyond that is pushed out
 * of memory before its reader comes, and has to be read from the disk. Safe for use by any number of threads.
 */
final class RunningStreams {
    /** A stream that was not read from for so long leaves its share to the others. */
    static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** However many streams there are, each may have the page after the one that is read. */
    static final long LEAST_SHARE = 2L * PageCache.PAGE_SIZE;

    private final LongSupplier bytes;
    private final LongSupplier nanoTime;

    @GuardedBy("this")
    private final Set<Stream> streams = new HashSet<>();

    private volatile long sweptAt;
    private volatile int sharing = 1;

    /**
     * @param bytes that all windows together may take; asked each time, as there may turn out to be less
     * @param nanoTime such as {@link System#nanoTime}
     */
    RunningStreams(LongSupplier bytes, LongSupplier nanoTime) {
        this.bytes = bytes;
        this.nanoTime = nanoTime;
        this.sweptAt = nanoTime.getAsLong();
    }

    /**
     * Notes that a running stream was read from. Waits for nobody, mostly.
     *
     * @return how many bytes its window may have now
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

    /** The stream wants no more: its file has ended, or is closed, or it is no stream any more. */
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

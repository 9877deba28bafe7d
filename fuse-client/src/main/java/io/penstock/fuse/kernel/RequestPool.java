package io.penstock.fuse.kernel;

import io.penstock.core.NativeMemory;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Memory for large waiting requests: a reader that hands over its own memory takes another piece here. It never waits:
 * a waiting reader would receive neither reads nor the interrupts of writers. So the memory, outside the heap, grows
 * with the number of requests in progress; memory beyond the usual number is garbage-collected afterwards.
 */
final class RequestPool {
    private final int capacity;
    private final Queue<ByteBuffer> kept;
    private final AtomicInteger taken = new AtomicInteger();

    /**
     * @param capacity bytes of the largest request
     * @param most maximum number kept for reuse, at least 1
     */
    RequestPool(int capacity, int most) {
        this.capacity = capacity;
        this.kept = new ArrayBlockingQueue<>(most);
    }

    /**
     * {@link #giveBack} must follow, for this memory or the memory that it replaced.
     *
     * @return null if the process has reached its limit
     */
    @Nullable
    ByteBuffer take() {
        ByteBuffer memory = kept.poll();
        if (memory == null) {
            try {
                memory = Reply.aligned(NativeMemory.Share.REQUESTS, capacity);
            } catch (NativeMemory.UsedUpException e) {
                return null;
            }
        }
        taken.incrementAndGet();
        return memory;
    }

    void giveBack(ByteBuffer memory) {
        taken.decrementAndGet();
        kept.offer(memory);
    }

    /** The number of buffers in use, for leak checks. */
    int taken() {
        return taken.get();
    }

    /** The number of buffers kept for reuse. */
    int kept() {
        return kept.size();
    }
}

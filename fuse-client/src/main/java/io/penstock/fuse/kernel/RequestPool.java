package io.penstock.fuse.kernel;

import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Memory for large requests that wait: a reader that lets go of its own takes another here. Nobody waits for it: a reader
 * that did would keep reads, and what interrupts the writers, from being heard. So there is as much of it as programs
 * wait at once, outside the heap; what is more than usual is left to the collector afterwards.
 */
final class RequestPool {
    private final int capacity;
    private final Queue<ByteBuffer> kept;
    private final AtomicInteger taken = new AtomicInteger();

    /**
     * @param capacity bytes of the largest request
     * @param most how many are kept for the next, at least 1
     */
    RequestPool(int capacity, int most) {
        this.capacity = capacity;
        this.kept = new ArrayBlockingQueue<>(most);
    }

    /**
     * {@link #giveBack} must follow, of this memory or of that which it replaced.
     *
     * @return null if the process may have no more
     */
    @Nullable
    ByteBuffer take() {
        ByteBuffer memory = kept.poll();
        if (memory == null) {
            try {
                memory = Reply.aligned(capacity);
            } catch (OutOfMemoryError e) {
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

    /** How many are to be given back, for leak checks. */
    int taken() {
        return taken.get();
    }

    /** How many are kept for the next. */
    int kept() {
        return kept.size();
    }
}

package io.penstock.fuse.kernel;

import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Memory for large requests that wait: a reader that lets go of its own takes another here. Nobody waits for it: a reader
 * that did would keep reads, and what interrupts the writers, from being heard.
 */
final class RequestPool {
    private final int capacity;
    private final Semaphore free;
    private final Queue<ByteBuffer> made = new ConcurrentLinkedQueue<>();

    /** @param capacity bytes of the largest request */
    RequestPool(int capacity, int count) {
        this.capacity = capacity;
        this.free = new Semaphore(count);
    }

    /**
     * {@link #giveBack} must follow, of this memory or of that which it replaced.
     *
     * @return null if all is in use
     */
    @Nullable
    ByteBuffer take() {
        if (!free.tryAcquire()) {
            return null;
        }
        ByteBuffer memory = made.poll();
        if (memory != null) {
            return memory;
        }
        try {
            return Reply.aligned(capacity);
        } catch (OutOfMemoryError e) {
            free.release();
            return null;
        }
    }

    void giveBack(ByteBuffer memory) {
        made.add(memory);
        free.release();
    }

    /** How many more could be taken, for leak checks. */
    int free() {
        return free.availablePermits();
    }
}

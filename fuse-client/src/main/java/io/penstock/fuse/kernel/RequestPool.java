package io.penstock.fuse.kernel;

import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;

/**
 * Memory for large requests that wait: a reader that lets go of its own takes another here. When all is in use the
 * reader waits, and with it the programs that write.
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

    /** {@link #giveBack} must follow, of this memory or of that which it replaced. */
    ByteBuffer take() {
        free.acquireUninterruptibly();
        ByteBuffer memory = made.poll();
        return memory != null ? memory : Reply.aligned(capacity);
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

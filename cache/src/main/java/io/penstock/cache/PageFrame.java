package io.penstock.cache;

import io.penstock.cache.Slab.Chunk;
import io.penstock.core.LentBytes;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A page in memory, or on its way there.
 *
 * <pre>
 *            bytes arrive, in order         last byte
 *   ARRIVING ─────┬────▶ ARRIVING ───────────────────────▶ COMPLETE
 *                 ├──▶ FAILED      waiting readers get the cause
 *                 └──▶ CANCELLED   waiting readers look up the page again
 * </pre>
 *
 * <p>References are counted: one for being {@linkplain Owner#frame current}, one for the thread that fills it and then
 * writes it to disk, and one for each active reader. The last one releases the memory. So a reader with a reference
 * always finishes its copy, even if the page fails after the bytes that it needs.
 */
final class PageFrame implements LentBytes.Loan {
    enum Origin {
        /** Claimed by a {@link Fill}. */
        STORE,
        /** Read back from disk, where the page is stored. */
        DISK
    }

    /** The object that the page belongs to. */
    interface Owner {
        /** The current frame of the page; null if it is not in memory. */
        @Nullable
        PageFrame frame(int page);

        /** True if the frame was current: the caller must then drop the reference that this represented. */
        boolean removeFrame(PageFrame frame);

        /** A reader has just begun to wait for one of the object's frames. */
        void readerWaits();

        /** A reader has finished waiting. */
        void readerWaited(long nanos);

        PageMemory memory();
    }

    private enum Stage {
        ARRIVING,
        COMPLETE,
        FAILED,
        CANCELLED
    }

    /** A waiting reader, and the number of bytes from the page's start that it needs. */
    private record Waiter(Thread thread, int bytes) {}

    private final Owner owner;
    private final int page;
    private final int length;
    private final Origin origin;
    private final AtomicInteger references = new AtomicInteger(2);

    /** Set once, before the first byte arrives; read only after {@link #arrived}. */
    private @Nullable Chunk chunk;

    /** Bytes present, from the page's start. Written by the one thread that fills. */
    private volatile int arrived;

    private volatile Stage stage = Stage.ARRIVING;

    /** Waiting readers. */
    private final Queue<Waiter> waiters = new ConcurrentLinkedQueue<>();

    /** Set before {@link #stage} becomes FAILED. */
    private @Nullable Exception failure;

    /** Racy on purpose: a lost update only evicts a page a little too early or too late. */
    private int bytesRead;

    /** Racy on purpose, like {@link #bytesRead}. */
    private boolean read;

    /** Whether it is queued for writing to disk. */
    private volatile boolean unwritten;

    PageFrame(Owner owner, int page, int length, Origin origin) {
        this.owner = owner;
        this.page = page;
        this.length = length;
        this.origin = origin;
    }

    int page() {
        return page;
    }

    int length() {
        return length;
    }

    Origin origin() {
        return origin;
    }

    void setChunk(Chunk granted) {
        chunk = granted;
    }

    Chunk chunk() {
        if (chunk == null) {
            throw new IllegalStateException("no memory yet for page " + page);
        }
        return chunk;
    }

    boolean isComplete() {
        return stage == Stage.COMPLETE;
    }

    boolean isUnwritten() {
        return unwritten;
    }

    void setUnwritten(boolean is) {
        unwritten = is;
    }

    /** The memory after the bytes that have arrived. */
    ByteBuffer rest() {
        return chunk().memory().slice(arrived, length - arrived);
    }

    /** All bytes of the page. */
    ByteBuffer bytes() {
        return chunk().memory().slice(0, length);
    }

    /** This many more bytes have arrived. */
    void arrived(int bytes) {
        if (bytes < 0 || bytes > length - arrived) {
            throw new IllegalArgumentException(bytes + " bytes in a buffer of " + (length - arrived));
        }
        int now = arrived + bytes;
        arrived = now;
        if (now == length) {
            stage = Stage.COMPLETE;
        }
        wake();
    }

    void fail(Exception cause) {
        failure = cause;
        stage = Stage.FAILED;
        wake();
    }

    void cancel() {
        stage = Stage.CANCELLED;
        wake();
    }

    /**
     * Wakes the readers whose bytes have arrived. Uses unpark, not notify: a notified virtual thread must first wait
     * for a JVM thread that passes the notification on.
     */
    private void wake() {
        for (Waiter each : waiters) {
            if (!isMissing(each.bytes())) {
                LockSupport.unpark(each.thread());
            }
        }
    }

    boolean isAwaited() {
        return !waiters.isEmpty();
    }

    private boolean isMissing(int bytes) {
        return !has(bytes) && stage == Stage.ARRIVING;
    }

    boolean has(int bytes) {
        return arrived >= bytes;
    }

    /**
     * Waits until the page's first {@code bytes} bytes have arrived.
     *
     * @return false if the page was cancelled
     */
    boolean await(int bytes) throws FillFailedException, InterruptedException {
        Waiter self = new Waiter(Thread.currentThread(), bytes);
        waiters.add(self); // before it checks what wake() reads after writing it
        owner.readerWaits();
        long begun = System.nanoTime();
        try {
            while (isMissing(bytes)) {
                if (Thread.interrupted()) {
                    throw new InterruptedException("while it waited for page " + page);
                }
                LockSupport.park(this);
            }
        } finally {
            waiters.remove(self);
            owner.readerWaited(System.nanoTime() - begun);
        }
        if (!has(bytes) && failure != null) {
            throw new FillFailedException(failure);
        }
        return has(bytes);
    }

    /** Copies as many bytes as fit in the buffer; they must have arrived. */
    int copy(int offset, ByteBuffer to) {
        int count = Math.min(to.remaining(), length - offset);
        ByteBuffer memory = chunk().memory();
        to.put(to.position(), memory, offset, count);
        to.position(to.position() + count);
        wasRead(offset, count);
        return count;
    }

    /** The same, but lends the bytes if there are many. The loan has its own reference. */
    int lend(int offset, ByteBuffer to, LentBytes loans) {
        int count = Math.min(to.remaining(), length - offset);
        if (!loans.takes(count)) {
            return copy(offset, to);
        }
        retain();
        loans.add(to.position(), chunk().memory(), offset, chunk().address() + offset, count, this);
        to.position(to.position() + count);
        wasRead(offset, count);
        return count;
    }

    @Override
    public void end() {
        release();
    }

    private void wasRead(int offset, int count) {
        read = true;
        bytesRead += count;
        if (offset + count == length && isSpent()) {
            owner.memory().spend(this);
        }
    }

    /** Whether a reader has probably read all of it and will hardly come back. */
    boolean isSpent() {
        return bytesRead >= length;
    }

    boolean wasReadSinceAsked() {
        boolean was = read;
        read = false;
        return was;
    }

    /** False if the memory has been or is being released; then the page is not current either. */
    boolean tryRetain() {
        return references.getAndUpdate(count -> count > 0 ? count + 1 : count) > 0;
    }

    /** The caller must hold a reference already. */
    void retain() {
        references.incrementAndGet();
    }

    void release() {
        Chunk unused = dropReference();
        if (unused != null) {
            owner.memory().free(unused);
        }
    }

    /** Removes the page from memory for all later readers, and returns the memory if nothing uses it. */
    @Nullable
    Chunk evict() {
        return owner.removeFrame(this) ? dropReference() : null;
    }

    boolean isCurrent() {
        return owner.frame(page) == this;
    }

    private @Nullable Chunk dropReference() {
        int left = references.decrementAndGet();
        if (left < 0) {
            throw new IllegalStateException("page " + page + " was released twice");
        }
        return left == 0 ? chunk : null;
    }
}

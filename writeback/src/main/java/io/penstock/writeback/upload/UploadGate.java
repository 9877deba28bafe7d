package io.penstock.writeback.upload;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the number of concurrent uploads of the mount and of each file. Files take turns: a file with thousands of
 * parts lets a small one through after its next part. While programs wait for something else, fewer run.
 */
final class UploadGate {
    private static final Executor LATER = CompletableFuture.delayedExecutor(100, TimeUnit.MILLISECONDS);

    private final WritebackLimits limits;
    private final BooleanSupplier yields;

    /** A leaf: no lock is taken under it. */
    private final ReentrantLock lock = new ReentrantLock();

    /** Queues with a waiting upload, each once; the next one to serve is first. */
    @GuardedBy("lock")
    private final Queue<FileQueue> queues = new ArrayDeque<>();

    @GuardedBy("lock")
    private int running;

    /** Whether yielding uploads will be looked at again soon. */
    @GuardedBy("lock")
    private boolean looksAgain;

    /** @param yields whether programs wait for something else now; called whenever one might begin, must not wait */
    UploadGate(WritebackLimits limits, BooleanSupplier yields) {
        this.limits = limits;
        this.yields = yields;
        limits.whenChanged(this::admit);
    }

    /** The uploads of one file. */
    final class FileQueue {
        /** Guarded by the gate's lock, like the next field. The compiler cannot check this for other queues. */
        private final Queue<Runnable> waiting = new ArrayDeque<>();

        private int runningHere;

        /**
         * Begins an upload when it is its turn.
         *
         * @param begin called once by any thread, perhaps immediately; must not wait. {@link #release} ends the upload
         */
        void enqueue(Runnable begin) {
            lock.lock();
            try {
                if (waiting.isEmpty()) {
                    queues.add(this);
                }
                waiting.add(begin);
            } finally {
                lock.unlock();
            }
            admit();
        }

        /** Waits for its turn. */
        public void acquire() throws InterruptedException {
            CountDownLatch turn = new CountDownLatch(1);
            Runnable begin = turn::countDown;
            enqueue(begin);
            try {
                turn.await();
            } catch (InterruptedException e) {
                if (!withdraw(begin)) {
                    release();
                }
                throw e;
            }
        }

        /** An upload has ended. */
        public void release() {
            lock.lock();
            try {
                running--;
                runningHere--;
            } finally {
                lock.unlock();
            }
            admit();
        }

        private boolean withdraw(Runnable begin) {
            lock.lock();
            try {
                boolean waited = waiting.remove(begin);
                if (waited && waiting.isEmpty()) {
                    queues.remove(this);
                }
                return waited;
            } finally {
                lock.unlock();
            }
        }
    }

    FileQueue newQueue() {
        return new FileQueue();
    }

    /** Number of running uploads. */
    public int running() {
        lock.lock();
        try {
            return running;
        } finally {
            lock.unlock();
        }
    }

    private void admit() {
        for (Runnable next = next(); next != null; next = next()) {
            next.run();
        }
    }

    private @Nullable Runnable next() {
        lock.lock();
        try {
            WritebackLimits.Values most = limits.get();
            boolean yielding = yields.getAsBoolean();
            int inAll = yielding ? Math.min(most.uploads(), most.uploadsWhileStaging()) : most.uploads();
            for (int left = queues.size(); left > 0 && running < inAll; left--) {
                FileQueue queue = queues.remove();
                Runnable next = queue.runningHere < most.uploadsPerFile() ? queue.waiting.remove() : null;
                if (!queue.waiting.isEmpty()) {
                    queues.add(queue);
                }
                if (next != null) {
                    queue.runningHere++;
                    running++;
                    return next;
                }
            }
            if (yielding && !queues.isEmpty() && !looksAgain) {
                looksAgain = true; // no event announces the end of the others' wait
                LATER.execute(this::lookAgain);
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    private void lookAgain() {
        lock.lock();
        try {
            looksAgain = false;
        } finally {
            lock.unlock();
        }
        admit();
    }
}

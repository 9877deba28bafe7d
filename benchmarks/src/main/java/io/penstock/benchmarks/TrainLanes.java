package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Threads that read ahead in parallel, each by a limited number of items. Items are taken in turn: from the first
 * thread, the second one and so on. Thread-safe; one thread takes the items.
 */
final class TrainLanes implements AutoCloseable {
    /** More than can ever be taken. */
    private static final int ALL = Integer.MAX_VALUE / 2;

    private final Semaphore[] free;
    private final Semaphore[] ready;
    private final LongAdder bytes = new LongAdder();
    private final ExecutorService threads;

    /** The first reader's failure; written before its {@code ready} is released. */
    private volatile @Nullable IOException failure;

    private volatile boolean closed;

    /** The lane to take from next. Only for the thread that takes. */
    private int next;

    /** The work of one lane's thread; returns when it has read everything. */
    @FunctionalInterface
    interface Reader {
        void read(int lane, ByteBuffer buffer) throws IOException, InterruptedException;
    }

    /** @param ahead number of items that each lane may begin before they are taken */
    TrainLanes(int lanes, int ahead) {
        free = Stream.generate(() -> new Semaphore(ahead)).limit(lanes).toArray(Semaphore[]::new);
        ready = Stream.generate(() -> new Semaphore(0)).limit(lanes).toArray(Semaphore[]::new);
        threads = Executors.newFixedThreadPool(lanes);
    }

    void start(Reader reader) {
        for (int i = 0; i < free.length; i++) {
            int lane = i;
            threads.execute(() -> run(reader, lane));
        }
    }

    private void run(Reader reader, int lane) {
        try {
            reader.read(lane, ByteBuffer.allocateDirect(TrainAccess.BUFFER));
        } catch (IOException | RuntimeException e) {
            failure = e instanceof IOException io ? io : new IOException(e);
            ready[lane].release(ALL);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until the lane may begin an item. Returns false when no more will be taken. */
    boolean begin(int lane) throws InterruptedException {
        free[lane].acquire();
        return !closed;
    }

    void finish(int lane) {
        ready[lane].release();
    }

    /** Takes the next item, from the lane whose turn it is. */
    void take() throws IOException, InterruptedException {
        int lane = next;
        next = (lane + 1) % free.length;
        ready[lane].acquire();
        IOException failed = failure;
        if (failed != null) {
            throw new IOException(failed.getMessage(), failed);
        }
        free[lane].release();
    }

    void count(long read) {
        bytes.add(read);
    }

    long bytes() {
        return bytes.sum();
    }

    boolean isClosed() {
        return closed;
    }

    /** Waits for calls in progress: an interrupt would close the channel of a call. */
    @Override
    public void close() {
        closed = true;
        for (Semaphore lane : free) {
            lane.release(ALL);
        }
        threads.close();
    }
}

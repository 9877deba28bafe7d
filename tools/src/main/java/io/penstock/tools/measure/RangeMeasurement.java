package io.penstock.tools.measure;

import io.penstock.core.ByteRange;
import io.penstock.core.NativeMemory;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * GETs random ranges of an object for a fixed time, and discards the bytes.
 *
 * @param rangeBytes the size of each range; at most the object's size
 * @param time the duration of each measurement
 */
public record RangeMeasurement(ObjectStore store, ObjectVersion object, long rangeBytes, Duration time) {
    /** The numbers of concurrent GETs that are measured, ascending. */
    public static final List<Integer> CONCURRENCIES = List.of(1, 16, 64);

    /** More than enough: GETs on virtual threads end immediately when interrupted. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final int BUFFER = 256 << 10;

    /** @throws ObjectStoreException if a GET fails */
    public RangeSpeed at(int concurrency) throws ObjectStoreException, InterruptedException {
        Run run = new Run();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        long began = System.nanoTime();
        double seconds;
        long bytes;
        try {
            for (int i = 0; i < concurrency; i++) {
                threads.execute(run::getUntilInterrupted);
            }
            boolean _ = run.failed.await(time.toMillis(), TimeUnit.MILLISECONDS);
            seconds = (System.nanoTime() - began) / 1e9;
            bytes = run.bytes.sum();
        } finally {
            threads.shutdownNow();
        }
        boolean _ = threads.awaitTermination(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        ObjectStoreException failure = run.failure.get();
        if (failure != null) {
            throw failure;
        }
        long[] waits =
                run.firstBytes.stream().mapToLong(Long::longValue).sorted().toArray();
        return new RangeSpeed(
                concurrency,
                bytes / (double) (1 << 20) / seconds,
                Duration.ofNanos(Measurement.percentile(waits, 50)),
                Duration.ofNanos(Measurement.percentile(waits, 99)));
    }

    /** The state shared by the threads of one measurement. */
    private final class Run {
        final LongAdder bytes = new LongAdder();
        /** Nanoseconds from a request to its first byte. */
        final Queue<Long> firstBytes = new ConcurrentLinkedQueue<>();

        final AtomicReference<@Nullable ObjectStoreException> failure = new AtomicReference<>();
        final CountDownLatch failed = new CountDownLatch(1);

        void getUntilInterrupted() {
            ByteBuffer buffer = NativeMemory.allocate(NativeMemory.Share.PAGES, BUFFER, 1);
            try {
                while (!Thread.currentThread().isInterrupted()) {
                    long offset = ThreadLocalRandom.current().nextLong(object.size() - rangeBytes + 1);
                    store.get(object, new ByteRange(offset, rangeBytes), new Counter(buffer, this));
                }
            } catch (ObjectStoreException e) {
                failure.compareAndSet(null, e);
                failed.countDown();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // time is up
            }
        }
    }

    /** Counts bytes and discards them. Confined to the thread of its GET. */
    private static final class Counter implements BodySink {
        private final ByteBuffer buffer;
        private final Run run;
        private final long began = System.nanoTime();
        private boolean first = true;

        Counter(ByteBuffer buffer, Run run) {
            this.buffer = buffer;
            this.run = run;
        }

        @Override
        public ByteBuffer buffer() {
            return buffer.clear();
        }

        @Override
        public void filled(int bytes) {
            if (first) {
                run.firstBytes.add(System.nanoTime() - began);
                first = false;
            }
            run.bytes.add(bytes);
        }
    }
}

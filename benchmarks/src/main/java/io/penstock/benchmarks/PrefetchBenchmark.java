package io.penstock.benchmarks;

import io.penstock.cache.CacheConfig;
import io.penstock.cache.PageCache;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.ObjectStore;
import io.penstock.prefetch.ObjectReader;
import io.penstock.prefetch.PageFetcher;
import io.penstock.prefetch.ReadaheadConfig;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How near readahead comes to the rate of 16 concurrent GETs, on a store with S3's latency and rate: cold objects of 2
 * GiB by reads of 128 KiB, as libfuse 2 sends them, in one stream and in eight that take turns on one reader; and the
 * cost of a read of bytes in memory. Run it as a program, with an empty folder for the cache.
 */
public final class PrefetchBenchmark {
    private static final long MIB = 1 << 20;
    private static final long SIZE = 2048 * MIB;
    private static final int REQUEST = 128 << 10;
    private static final int CONNECTIONS = 16;
    private static final long RANGE = 8 * MIB;

    private final ObjectStore store = new PacedObjectStore(Duration.ofMillis(25), 90_000_000);
    private final PageFetcher fetcher;
    private int objects;

    private PrefetchBenchmark(PageCache cache, ReadaheadConfig config) {
        this.fetcher = new PageFetcher(store, cache, "paced", config);
    }

    /** @param args the cache folder, and how many rounds (3) */
    public static void main(String[] args) throws Exception {
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 3;
        try (PageCache cache = PageCache.open(new CacheConfig(Path.of(args[0]), 8 * SIZE, 0, 768 * MIB))) {
            PrefetchBenchmark benchmark = new PrefetchBenchmark(cache, ReadaheadConfig.DEFAULT);
            System.out.println("MiB/s: raw, one stream, eight streams (ratio to raw); ns per read from memory");
            for (int i = 0; i < rounds; i++) {
                double raw = benchmark.rate(benchmark::raw);
                double one = benchmark.rate(() -> benchmark.streams(1));
                double eight = benchmark.rate(() -> benchmark.streams(8));
                System.out.printf(
                        "%.0f, %.0f (%.2f), %.0f (%.2f); %d%n",
                        raw, one, one / raw, eight, eight / raw, benchmark.nanosPerRead());
            }
            System.out.println(benchmark.fetcher.statistics());
            benchmark.fetcher.close();
        }
    }

    /** MiB/s of reads of {@link #SIZE} bytes. */
    private double rate(Callable<?> reads) throws Exception {
        long start = System.nanoTime();
        reads.call();
        return SIZE / (double) MIB / ((System.nanoTime() - start) / 1e9);
    }

    private ObjectVersion cold() {
        return new ObjectVersion("object" + objects++, "\"1\"", SIZE, Instant.EPOCH);
    }

    private Void raw() throws Exception {
        ObjectVersion version = cold();
        AtomicLong next = new AtomicLong();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> connections = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                connections.add(threads.submit(() -> {
                    BodySink sink = new Discard();
                    for (long at; (at = next.getAndAdd(RANGE)) < SIZE; ) {
                        store.get(version, new ByteRange(at, RANGE), sink);
                    }
                    return null;
                }));
            }
            for (Future<?> connection : connections) {
                connection.get();
            }
        }
        return null;
    }

    /** So many streams in equal parts of one object, on one reader, a MiB of each in turn. */
    private Void streams(int count) throws Exception {
        long part = SIZE / count;
        ByteBuffer buffer = ByteBuffer.allocateDirect(REQUEST);
        try (ObjectReader reader = fetcher.open(cold())) {
            for (long visit = 0; visit < part; visit += MIB) {
                for (int stream = 0; stream < count; stream++) {
                    long start = stream * part + visit;
                    for (long at = start; at < start + MIB; at += REQUEST) {
                        reader.read(at, buffer.clear());
                    }
                }
            }
        }
        return null;
    }

    private long nanosPerRead() throws Exception {
        int reads = 1_000_000;
        ByteBuffer buffer = ByteBuffer.allocateDirect(4096);
        try (ObjectReader reader = fetcher.open(cold())) {
            for (long at = 0; at < 8 * MIB; at += REQUEST) {
                reader.read(at, buffer.clear());
            }
            long start = System.nanoTime();
            for (int i = 0; i < reads; i++) {
                reader.readNow((long) i * 4096 % (8 * MIB), buffer.clear());
            }
            return (System.nanoTime() - start) / reads;
        }
    }

    private static final class Discard implements BodySink {
        private final ByteBuffer memory = ByteBuffer.allocateDirect((int) MIB);

        @Override
        public ByteBuffer buffer() {
            return memory.clear();
        }

        @Override
        public void filled(int bytes) {}
    }
}

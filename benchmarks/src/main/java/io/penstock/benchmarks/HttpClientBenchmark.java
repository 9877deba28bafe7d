package io.penstock.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.S3Config;
import io.penstock.objectstore.S3ObjectStore;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The cost of an HTTP client: it reads one object again and again in 8 MiB ranges, 16 at once, into direct buffers. A
 * JVM measures one client, because the first gibibytes, in which the code is compiled, count too.
 *
 * <pre>{@code HttpClientBenchmark CLIENT ENDPOINT BUCKET KEY GIB [CA_FILE]}</pre>
 *
 * <p>The SDK's chain has the credentials. Prints, for each 2 GiB, the rate and the process's own CPU time.
 */
public final class HttpClientBenchmark {
    private static final int RANGE = 8 << 20;
    private static final int CONCURRENCY = 16;
    private static final long GIB = 1L << 30;
    private static final long STEP = 2 * GIB;

    private HttpClientBenchmark() {}

    public static void main(String[] args) throws Exception {
        Path caFile = args.length > 5 ? Path.of(args[5]) : null;
        S3Config config = new S3Config(
                args[2],
                new S3Config.Server(URI.create(args[1]), null, true, null, caFile),
                new S3Config.Requester(new S3Config.Credentials.Chain(null), false, "penstock-bench"),
                S3Config.HttpClient.valueOf(args[0]),
                S3Config.Limits.DEFAULT,
                S3Config.Integrity.DEFAULT,
                RetryPolicy.DEFAULT);
        long steps = Math.max(1, Long.parseLong(args[4]) * GIB / STEP);
        long begin = System.nanoTime();
        try (S3ObjectStore store = S3ObjectStore.connect(config);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            ObjectVersion version = store.head(args[3]).version();
            System.out.printf("%s connected in %d ms%n", args[0], (System.nanoTime() - begin) / 1_000_000);
            List<ByteBuffer> buffers = new ArrayList<>();
            for (int i = 0; i < CONCURRENCY; i++) {
                buffers.add(ByteBuffer.allocateDirect(RANGE));
            }
            for (long step = 0; step < steps; step++) {
                measure(store, version, buffers, threads, step);
            }
        }
    }

    private static void measure(
            S3ObjectStore store, ObjectVersion version, List<ByteBuffer> buffers, ExecutorService threads, long step)
            throws InterruptedException, ExecutionException {
        OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        long cpu = process.getProcessCpuTime();
        long begin = System.nanoTime();
        long ranges = version.size() / RANGE;
        AtomicLong next = new AtomicLong();
        List<Future<@Nullable Void>> readers = new ArrayList<>();
        for (ByteBuffer buffer : buffers) {
            readers.add(threads.submit(() -> {
                for (long i = next.getAndIncrement(); i < STEP / RANGE; i = next.getAndIncrement()) {
                    buffer.clear();
                    store.get(version, new ByteRange(i % ranges * RANGE, RANGE), new OneBuffer(buffer));
                }
                return null;
            }));
        }
        for (Future<@Nullable Void> reader : readers) {
            reader.get();
        }
        double seconds = (System.nanoTime() - begin) / 1e9;
        double cpuSeconds = (process.getProcessCpuTime() - cpu) / 1e9;
        double gib = (double) STEP / GIB;
        System.out.printf(
                "%2d to %2d GiB: %5.0f MiB/s, %.2f CPU s/GiB%n",
                2 * step, 2 * step + 2, 1024 * gib / seconds, cpuSeconds / gib);
    }

    private record OneBuffer(ByteBuffer buffer) implements BodySink {
        @Override
        public void filled(int bytes) {}
    }
}

package io.penstock.fuse.calls;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.Errno;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CallLatenciesTest {
    private final CallLatencies latencies = new CallLatencies();

    private record Ended(KernelCall kind) implements ObservedCall {
        @Override
        public long inode() {
            return 1;
        }

        @Override
        public @Nullable String name() {
            return null;
        }

        @Override
        public long offset() {
            return NO_OFFSET;
        }
    }

    private CallStatistics of(KernelCall call) {
        return Objects.requireNonNull(latencies.snapshot().get(call.label()));
    }

    @Test
    void snapshot_ofSeveralCalls_hasEachThatThereWas() {
        latencies.ended(new Ended(KernelCall.WRITE), 0, 4096, 1_000);
        latencies.ended(new Ended(KernelCall.READ), 0, 100, 20);
        latencies.ended(new Ended(KernelCall.READ), Errno.EIO.number(), 0, 30);
        latencies.ended(new Ended(KernelCall.READ), 61, 0, 50);

        assertThat(latencies.snapshot().keySet()).containsExactly("read", "write");
        CallStatistics read = of(KernelCall.READ);
        assertThat(read.count()).isEqualTo(3);
        assertThat(read.bytes()).isEqualTo(100);
        assertThat(read.nanos()).isEqualTo(100);
        assertThat(read.errors()).isEqualTo(Map.of("EIO", 1L, "ENODATA", 1L));
        assertThat(of(KernelCall.WRITE).bytes()).isEqualTo(4096);
    }

    @Test
    void quantiles_ofAnyDurations_areAtMostAnEighthTooHigh() {
        Random random = new Random(17);
        long[] nanos = IntStream.range(0, 10_000)
                .mapToLong(i -> 1L << random.nextInt(40) | random.nextLong(1L << random.nextInt(1, 40)))
                .toArray();
        for (long each : nanos) {
            latencies.ended(new Ended(KernelCall.READ), 0, 1, each);
        }
        Arrays.sort(nanos);

        CallStatistics read = of(KernelCall.READ);
        assertThat(read.p50Nanos()).isBetween(nanos[4_999], nanos[4_999] * 9 / 8 + 1);
        assertThat(read.p99Nanos()).isBetween(nanos[9_899], nanos[9_899] * 9 / 8 + 1);
        assertThat(read.p999Nanos()).isBetween(nanos[9_989], nanos[9_989] * 9 / 8 + 1);
        read.faster()
                .forEach((end, count) -> assertThat(count)
                        .as("faster than %d ns", end)
                        .isEqualTo(
                                Arrays.stream(nanos).filter(each -> each < end).count()));
        assertThat(read.faster().keySet())
                .contains(1L << 16, 1L << 20, 1L << 34)
                .hasSize(10);
    }

    @Test
    void durations_ofAnyLength_areInOneBucket() {
        for (int bucket = 0; bucket < Latencies.BUCKETS - 1; bucket++) {
            assertThat(Latencies.end(bucket)).isGreaterThan(bucket == 0 ? 0 : Latencies.end(bucket - 1));
        }
        for (long extreme : List.of(0L, -5L, 1L, Long.MAX_VALUE)) {
            latencies.ended(new Ended(KernelCall.FSYNC), 0, 0, extreme);
        }
        assertThat(of(KernelCall.FSYNC).count()).isEqualTo(4);
    }

    @Test
    void ended_byManyThreads_losesNone() {
        try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
            for (int i = 0; i < 8; i++) {
                threads.execute(() -> {
                    for (int call = 0; call < 10_000; call++) {
                        latencies.ended(new Ended(KernelCall.OPEN), call % 10 == 0 ? Errno.ENOENT.number() : 0, 3, 100);
                    }
                });
            }
        }
        CallStatistics open = of(KernelCall.OPEN);
        assertThat(open.count()).isEqualTo(80_000);
        assertThat(open.bytes()).isEqualTo(240_000);
        assertThat(open.errors()).isEqualTo(Map.of("ENOENT", 8_000L));
    }
}

package io.penstock.prefetch;

import static io.penstock.prefetch.FetcherFixture.KIB;
import static io.penstock.prefetch.FetcherFixture.MIB;
import static io.penstock.prefetch.FetcherFixture.readAndVerify;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.Fault;
import io.penstock.testing.Seeded;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Many threads over a cache that is far too small: pages are evicted, fetched again and fail while threads read them.
 */
@Timeout(120)
class FetcherStressTest {
    private static final int THREADS = 16;
    private static final int VISITS = 16;

    @TempDir
    private Path directory;

    @Test
    void read_randomlyWithEviction_everyByteIsRight() throws Exception {
        assertThat(stress(new ReadaheadConfig(16 * MIB, 4 * MIB, 8, 2 * MIB), 0))
                .isZero();
    }

    @Test
    void read_randomlyWithEvictionAndFaults_everyByteIsRightOrAnError() throws Exception {
        assertThat(stress(new ReadaheadConfig(16 * MIB, 4 * MIB, 8, 2 * MIB), 0.05))
                .isPositive();
    }

    /** Returns how many reads failed. */
    private long stress(ReadaheadConfig config, double faults) throws Exception {
        try (FetcherFixture fixture = new FetcherFixture(directory, config, 8 * MIB, 6 * MIB);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            fixture.faults.randomly(
                    Seeded.random(99), faults, call -> new Fault.Fail(700 * KIB, ObjectStoreException.Throttled::new));
            List<ObjectVersion> versions = List.of(
                    fixture.put("small", 2 * MIB),
                    fixture.put("odd", 7 * MIB + 4321),
                    fixture.put("large", 24 * MIB),
                    fixture.put("other", 24 * MIB));
            List<Future<Integer>> readers = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                RandomGenerator random = Seeded.random(i);
                readers.add(threads.submit(() -> visitAll(fixture, versions, random)));
            }
            long failed = 0;
            for (Future<Integer> reader : readers) {
                failed += reader.get();
            }
            return failed;
        }
    }

    private static int visitAll(FetcherFixture fixture, List<ObjectVersion> versions, RandomGenerator random)
            throws InterruptedException {
        int failed = 0;
        for (int i = 0; i < VISITS; i++) {
            ObjectVersion version = versions.get(random.nextInt(versions.size()));
            try (ObjectReader reader = fixture.fetcher.open(version)) {
                failed += visit(reader, version, random);
            }
        }
        return failed;
    }

    /** Reads a sequential run, or a few random places. */
    private static int visit(ObjectReader reader, ObjectVersion version, RandomGenerator random)
            throws InterruptedException {
        boolean inSequence = random.nextBoolean();
        int failed = 0;
        long at = random.nextLong(version.size());
        for (int i = 0; i < 16 && at < version.size(); i++) {
            int length = 1 + random.nextInt((int) (64 * KIB));
            try {
                readAndVerify(reader, version, at, length);
            } catch (ObjectStoreException.Throttled e) {
                failed++;
            } catch (ObjectStoreException e) {
                throw new AssertionError(e);
            }
            at = inSequence ? at + length : random.nextLong(version.size());
        }
        return failed;
    }
}

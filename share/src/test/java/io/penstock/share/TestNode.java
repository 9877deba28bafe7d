package io.penstock.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.CacheConfig;
import io.penstock.cache.CachedObject;
import io.penstock.cache.PageCache;
import io.penstock.cache.PageState;
import io.penstock.core.LentBytes;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.prefetch.ObjectReader;
import io.penstock.prefetch.PageFetcher;
import io.penstock.prefetch.ReadaheadConfig;
import io.penstock.share.ShareStatistics.Fallback;
import io.penstock.testing.DelayingObjectStore;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.RecordingObjectStore;
import io.penstock.testing.TestData;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** A node's fetcher, over its own cache and the shared bucket. */
final class TestNode implements AutoCloseable {
    static final String NAMESPACE = "memory/bucket";
    static final int MIB = 1 << 20;
    static final int REQUEST = 128 << 10;

    /** Long enough for a loaded machine; reaching it is a failure, never a pass. */
    private static final long PATIENCE_NANOS = 60_000_000_000L;

    final Path folder;
    final DelayingObjectStore delays;
    final RecordingObjectStore store;
    final PageCache cache;
    final PageFetcher fetcher;
    private final Set<ObjectVersion> read = ConcurrentHashMap.newKeySet();

    TestNode(Path folder, InMemoryObjectStore bucket) throws IOException {
        this.folder = folder;
        delays = new DelayingObjectStore(bucket);
        store = new RecordingObjectStore(delays);
        cache = PageCache.open(new CacheConfig(folder.resolve("cache"), 256L * MIB, 0, 48L * MIB));
        fetcher = new PageFetcher(store, cache, NAMESPACE, new ReadaheadConfig(8 * MIB, 16 * MIB, 8, MIB));
    }

    /** Reads this many bytes there, and checks each. */
    void read(ObjectVersion version, long from, int length) throws ObjectStoreException, InterruptedException {
        read.add(version);
        try (ObjectReader reader = fetcher.open(version)) {
            for (long at = from; at < Math.min(from + length, version.size()); at += REQUEST) {
                ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(REQUEST, from + length - at));
                LentBytes loans = new LentBytes(buffer.capacity() / PageCache.PAGE_SIZE + 1);
                int got = reader.read(at, buffer, loans, true);
                loans.settle(buffer);
                assertThat(got).isEqualTo((int) Math.min(buffer.capacity(), version.size() - at));
                TestData.of(version.key(), version.size()).verify(at, buffer.flip());
            }
        }
    }

    void readAll(ObjectVersion version) throws ObjectStoreException, InterruptedException {
        read(version, 0, (int) version.size());
    }

    int gets() {
        return store.gets().size();
    }

    /** All bytes that the node requested from the store. */
    long bytesFetched() {
        return store.gets().stream().mapToLong(get -> get.range().length()).sum();
    }

    /**
     * How often nodes asked the store for another node's bytes. Only lack of time is accepted as a cause: a loaded
     * machine may take longer than a node waits. Each time at most one slab is fetched again.
     *
     * @param fallbacks the fallbacks of each node
     */
    static long late(Stream<Map<Fallback, Long>> fallbacks) {
        return fallbacks
                .flatMap(each -> each.entrySet().stream())
                .filter(each -> each.getValue() > 0)
                .peek(each -> assertThat(each.getKey()).isIn(Fallback.TIMEOUT, Fallback.UNREACHABLE, Fallback.SKIPPED))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("waited in vain: " + what);
            }
            LockSupport.parkNanos(5_000_000);
        }
    }

    /** Checks that no claim is left. */
    @Override
    public void close() {
        await("GETs end when nobody reads", () -> store.getsInFlight() == 0);
        fetcher.close();
        for (ObjectVersion version : read) {
            try (CachedObject pages = cache.open(NAMESPACE, version)) {
                for (long page = 0; page * pages.pageSize() < version.size(); page++) {
                    assertThat(pages.state(page)).isNotEqualTo(PageState.INFLIGHT);
                }
            }
        }
        cache.close();
    }
}

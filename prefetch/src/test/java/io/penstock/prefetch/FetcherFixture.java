package io.penstock.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.CacheConfig;
import io.penstock.cache.CachedObject;
import io.penstock.cache.PageCache;
import io.penstock.cache.PageState;
import io.penstock.core.ByteRange;
import io.penstock.core.LentBytes;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.DelayingObjectStore;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.RecordingObjectStore;
import io.penstock.testing.TestData;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** A fetcher over a real cache and an in-memory store. Checks at the end that nothing leaked. */
final class FetcherFixture implements AutoCloseable {
    static final long KIB = 1 << 10;
    static final long MIB = 1 << 20;
    static final int REQUEST = (int) (128 * KIB);

    /** Long enough for a loaded machine; reaching it is a failure, never a pass. */
    private static final long PATIENCE_NANOS = 30_000_000_000L;

    private static final String NAMESPACE = "memory/bucket";

    final InMemoryObjectStore bucket = new InMemoryObjectStore();
    final FaultyObjectStore faults = new FaultyObjectStore(bucket);
    final DelayingObjectStore delays = new DelayingObjectStore(faults);
    final RecordingObjectStore store = new RecordingObjectStore(delays);
    final PageCache cache;
    final PageFetcher fetcher;
    private final Path directory;
    private final ReadaheadConfig config;
    private final List<ObjectVersion> versions = new ArrayList<>();

    FetcherFixture(Path directory, ReadaheadConfig config, long cacheBytes, long memoryBytes) throws IOException {
        cache = PageCache.open(new CacheConfig(directory.resolve("cache"), cacheBytes, 0, memoryBytes));
        this.directory = directory;
        this.config = config;
        fetcher = new PageFetcher(store, cache, NAMESPACE, config);
    }

    /** Another fetcher, whose versions stay open for a while. */
    PageFetcher lingering(Duration linger) {
        return new PageFetcher(store, cache, NAMESPACE, config, linger, key -> null);
    }

    /** Another fetcher, which knows directories. */
    PageFetcher knowing(ReadaheadConfig its, DirectoryFiles.Source listed) {
        return new PageFetcher(store, cache, NAMESPACE, its, Duration.ZERO, listed);
    }

    ObjectVersion put(String key, long size) {
        ObjectVersion version = bucket.putTestData(key, size);
        versions.add(version);
        return version;
    }

    /** Reads this many bytes there, and checks each. */
    static void readAndVerify(ObjectReader reader, ObjectVersion version, long position, int length)
            throws ObjectStoreException, InterruptedException {
        ByteBuffer buffer = ByteBuffer.allocate(length);
        LentBytes loans = new LentBytes(length / PageCache.PAGE_SIZE + 1); // one fewer than it could take
        int read = reader.read(position, buffer, loans, true);
        loans.settle(buffer);
        assertThat(read).isEqualTo((int) Math.min(length, version.size() - position));
        TestData.of(version.key(), version.size()).verify(position, buffer.flip());
    }

    static void readInSequence(ObjectReader reader, ObjectVersion version, long from, long to)
            throws ObjectStoreException, InterruptedException {
        for (long at = from; at < to; at += REQUEST) {
            readAndVerify(reader, version, at, (int) Math.min(REQUEST, to - at));
        }
    }

    /** Flips one bit in the cache file that is as long as this object. */
    void flipOnDisk(ObjectVersion version, long position) throws IOException {
        try (Stream<Path> files = Files.walk(directory.resolve("cache"))) {
            Path file = files.filter(
                            path -> path.toFile().isFile() && path.toFile().length() == version.size())
                    .findFirst()
                    .orElseThrow();
            try (FileChannel data = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                ByteBuffer one = ByteBuffer.allocate(1);
                data.read(one, position);
                data.write(ByteBuffer.wrap(new byte[] {(byte) (one.get(0) ^ 4)}), position);
            }
        }
    }

    /** The ranges requested so far, by offset. */
    List<ByteRange> ranges() {
        return store.gets().stream()
                .map(Call.Get::range)
                .sorted(Comparator.comparingLong(ByteRange::offset))
                .toList();
    }

    static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("waited in vain: " + what);
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Every reader must be closed first. */
    @Override
    public void close() {
        await("GETs end when nobody reads", () -> fetcher.running() == 0 && store.getsInFlight() == 0);
        assertThat(fetcher.openObjects()).as("objects left open").isZero();
        fetcher.close();
        for (ObjectVersion version : versions) {
            try (CachedObject pages = cache.open(NAMESPACE, version);
                    CachedObject sectors = cache.openSectors(pages)) {
                assertNothingInFlight(pages);
                assertNothingInFlight(sectors);
            }
        }
        cache.close();
    }

    private static void assertNothingInFlight(CachedObject object) {
        for (long page = 0; page * object.pageSize() < object.version().size(); page++) {
            assertThat(object.state(page)).isNotEqualTo(PageState.INFLIGHT);
        }
    }
}

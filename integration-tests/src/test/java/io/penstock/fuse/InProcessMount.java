package io.penstock.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.cache.CacheConfig;
import io.penstock.cache.CacheStatistics;
import io.penstock.cache.PageCache;
import io.penstock.filesystem.AllowedUsers;
import io.penstock.filesystem.FileSystem;
import io.penstock.filesystem.FileSystemConfig;
import io.penstock.filesystem.Passthrough;
import io.penstock.metadata.MetadataConfig;
import io.penstock.metadata.Tree;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ForwardingObjectStore;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.UploadBody;
import io.penstock.prefetch.PageFetcher;
import io.penstock.prefetch.ReadaheadConfig;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import io.penstock.testing.TestData;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A real mount of a bucket in memory, in this process. Anything that a test leaves mounted is detached at the end. */
final class InProcessMount implements AutoCloseable {
    /** The bound on names in the kernel's cache. */
    static final int MOST_NAMES = 5_000;

    static final String SOURCE = "s3://bucket/a, b";
    static final int THREADS = 4;

    /** A binding's entry point. */
    @FunctionalInterface
    interface Binding {
        Mount mount(FileSystem fileSystem, MountOptions options) throws MountException, InterruptedException;
    }

    private static final Duration TTL = Duration.ofMinutes(1);
    private static final long MIB = 1 << 20;
    private static final long CACHE_MEMORY = 32 * MIB;

    private final InMemoryObjectStore bucket = new InMemoryObjectStore();
    private final Breakable store = new Breakable(bucket);
    private final ManualClock clock = new ManualClock();
    private final PageCache cache;
    private final PageFetcher fetcher;
    private final FileSystem fileSystem;
    private final Mount mount;
    private boolean closed;

    InProcessMount(Binding binding, Path folder) throws IOException, MountException, InterruptedException {
        this(binding, folder, folder.resolve("cache"), Passthrough.VERIFIED);
    }

    /** @param cacheFolder may be an earlier mount's: the bucket is empty, but the same bytes have the same ETag */
    InProcessMount(Binding binding, Path folder, Path cacheFolder, Passthrough passthrough)
            throws IOException, MountException, InterruptedException {
        assumeTrue(
                Files.isWritable(Path.of("/dev/fuse")), "there is no /dev/fuse, or not for this user: nothing mounted");
        cache = PageCache.open(new CacheConfig(cacheFolder, 64 * MIB, 0, CACHE_MEMORY));
        fetcher = new PageFetcher(store, cache, "test", new ReadaheadConfig(8 * MIB, 2 * MIB, 8, MIB));
        Tree tree = new Tree(store, "", new MetadataConfig(TTL, TTL), clock::nanoTime);
        FileSystemConfig config =
                new FileSystemConfig(0, 0, 0644, 0755, AllowedUsers.ALL, MOST_NAMES, passthrough, 0, false);
        fileSystem = new FileSystem(tree, fetcher, KeptAttributes.none(store, tree), config, Instant.EPOCH, null);
        Path mountPoint = Files.createDirectories(folder.resolve("mount"));
        boolean mounted = false;
        try {
            mount = binding.mount(
                    fileSystem,
                    options(mountPoint, Duration.ZERO, passthrough == Passthrough.OFF ? null : cacheFolder));
            mounted = true;
        } finally {
            if (!mounted) {
                closeParts();
            }
        }
    }

    /** Mounts it once more. The kernel sends each lookup, so changes in the bucket are visible immediately. */
    Mount mountAt(Binding binding, Path mountPoint) throws MountException, InterruptedException {
        return mountAt(binding, mountPoint, Duration.ZERO);
    }

    /** @param believed the time to live of the kernel's entries; not by the clock that {@link #put} advances */
    Mount mountAt(Binding binding, Path mountPoint, Duration believed) throws MountException, InterruptedException {
        // Without a backing folder: a file can be passed to only one mount.
        return binding.mount(fileSystem, options(mountPoint, believed, null));
    }

    private static MountOptions options(Path mountPoint, Duration believed, @Nullable Path backingFolder) {
        return new MountOptions(mountPoint, SOURCE, false, false, false, believed, MIB, THREADS, backingFolder, false);
    }

    Mount mount() {
        return mount;
    }

    Path path(String name) {
        return mount.mountPoint().resolve(name);
    }

    TestData put(String key, long size, int generation) {
        TestData data = new TestData(key, size, generation);
        bucket.put(key, data);
        clock.advance(TTL.plusSeconds(1)); // all cached names have expired
        return data;
    }

    void delete(String key) throws ObjectStoreException, InterruptedException {
        bucket.delete(key);
        clock.advance(TTL.plusSeconds(1));
    }

    /** From now on the store fails in a way that only a defect can cause. */
    void breakStore() {
        store.broken = true;
        clock.advance(TTL.plusSeconds(1));
    }

    void mendStore() {
        store.broken = false;
    }

    /** Waits until the pages read are on the cache's disk. Only half of the cache's memory is certain to be stored. */
    void awaitStored(long bytes) throws InterruptedException {
        assertThat(bytes).isLessThanOrEqualTo(CACHE_MEMORY / 2);
        while (cache.statistics().diskBytes() < bytes) {
            Thread.sleep(1);
        }
    }

    CacheStatistics cacheStatistics() {
        return cache.statistics();
    }

    FileSystem fileSystem() {
        return fileSystem;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        mount.close();
        try {
            mount.awaitUnmounted();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("still in use: " + mount.mountPoint(), e);
        }
        closeParts();
    }

    private void closeParts() {
        fileSystem.close();
        fetcher.close();
        cache.close();
        store.close();
    }

    /** Throws an exception that no store may throw. */
    private static final class Breakable extends ForwardingObjectStore {
        private volatile boolean broken;

        Breakable(ObjectStore store) {
            super(store);
        }

        private void check() {
            if (broken) {
                throw new IllegalStateException("broken on purpose");
            }
        }

        @Override
        protected <T, X extends Exception> T around(Call call, UploadBody body, Request<T, X> request)
                throws ObjectStoreException, InterruptedException, X {
            check();
            return super.around(call, body, request);
        }
    }
}

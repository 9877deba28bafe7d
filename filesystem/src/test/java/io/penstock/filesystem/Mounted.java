package io.penstock.filesystem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.cache.CacheConfig;
import io.penstock.cache.PageCache;
import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.metadata.MetadataConfig;
import io.penstock.metadata.Tree;
import io.penstock.prefetch.PageFetcher;
import io.penstock.prefetch.ReadaheadConfig;
import io.penstock.testing.Call;
import io.penstock.testing.DelayingObjectStore;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import io.penstock.testing.RecordingObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/**
 * A file system over a bucket in memory, with all that lies between. Closing it checks that nothing leaked, provided
 * that the test has released and forgotten what it took.
 */
final class Mounted implements AutoCloseable {
    static final Duration TTL = Duration.ofSeconds(60);
    static final Duration NEGATIVE_TTL = Duration.ofSeconds(5);
    static final Instant MOUNT_TIME = Instant.parse("2026-06-01T00:00:00Z");
    static final int UID = 1000;
    static final int GID = 100;

    private static final int MIB = 1 << 20;
    private static final AtomicLong MOUNTS = new AtomicLong();

    final ManualClock clock = new ManualClock();
    final InMemoryObjectStore bucket = new InMemoryObjectStore("bucket", clock, InMemoryObjectStore.Order.UTF8);
    final DelayingObjectStore delays = new DelayingObjectStore(bucket);
    final FaultyObjectStore faults = new FaultyObjectStore(delays);
    final RecordingObjectStore store = new RecordingObjectStore(faults);
    final FileSystem fs;

    private final PageFetcher fetcher;
    private final Tree tree;

    /** Lookups to forget at the end. */
    private final List<Long> lookups = new ArrayList<>();

    /** @param cache may be shared: each has a namespace of its own in it */
    Mounted(PageCache cache) {
        String namespace = "bucket-" + MOUNTS.incrementAndGet();
        fetcher = new PageFetcher(store, cache, namespace, ReadaheadConfig.defaults());
        tree = new Tree(store, "", new MetadataConfig(TTL, NEGATIVE_TTL), clock::nanoTime);
        fs = new FileSystem(
                tree, fetcher, new FileSystemConfig(UID, GID, 0640, 0751, Passthrough.VERIFIED), MOUNT_TIME);
    }

    /** A small cache for the mounts of one test class: opening one takes as long as many a test. */
    static PageCache cache(Path folder) throws IOException {
        return PageCache.open(new CacheConfig(folder, 64 * MIB, 0, 8 * MIB));
    }

    /** Looks a path up from the root; forgotten at the end. */
    Attributes lookup(String path) throws ErrnoException {
        Attributes found = fs.getattr(FileSystem.ROOT);
        for (String name : path.split("/", -1)) {
            found = fs.lookup(found.inode(), name);
            lookups.add(found.inode());
        }
        return found;
    }

    /** Opens a path for reading. */
    OpenFile open(String path) throws ErrnoException {
        return fs.open(lookup(path).inode(), 0);
    }

    /** Reads all of an open file, as text. */
    String read(OpenFile file) throws ErrnoException {
        ByteBuffer content = ByteBuffer.allocate(MIB);
        int bytes = fs.read(file.handle(), 0, content);
        return new String(content.array(), 0, bytes, StandardCharsets.UTF_8);
    }

    /** Opens, reads and closes, as cat does. */
    String cat(String path) throws ErrnoException {
        OpenFile file = open(path);
        try {
            return read(file);
        } finally {
            fs.release(file.handle());
        }
    }

    /** All names of a directory but . and .., handed out through a sink that takes {@code batch} at a time. */
    List<String> ls(long inode, int batch) throws ErrnoException {
        long handle = fs.opendir(inode).handle();
        try {
            List<String> names = ls(handle, 0, batch);
            assertThat(names).startsWith(".", "..");
            return names.subList(2, names.size());
        } finally {
            fs.releasedir(handle);
        }
    }

    /** All names from an offset on. */
    List<String> ls(long handle, long from, int batch) throws ErrnoException {
        List<String> names = new ArrayList<>();
        long[] offset = {from};
        int before;
        do {
            before = names.size();
            int room = before + batch;
            fs.readdir(handle, offset[0], (name, attributes, next) -> {
                if (names.size() == room) {
                    return false;
                }
                names.add(name);
                offset[0] = next;
                return true;
            });
        } while (names.size() > before);
        return names;
    }

    List<Call> drain() {
        return store.drain();
    }

    static void assertErrno(Errno errno, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        ErrnoException.class, e -> assertThat(e.errno()).isEqualTo(errno));
    }

    @Override
    public void close() {
        lookups.forEach(inode -> fs.forget(inode, 1));
        int handles = fs.openHandles();
        int inodes = fs.inodesInUse();
        fs.close();
        tree.close();
        fetcher.close();
        assertThat(handles).as("open handles").isZero();
        assertThat(inodes).as("inodes in use").isZero();
        assertThat(store.getsInFlight()).as("GETs in flight").isZero();
    }
}

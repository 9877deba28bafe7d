package io.penstock.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.cache.CacheConfig;
import io.penstock.cache.PageCache;
import io.penstock.core.ByteRange;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.AllowedUsers;
import io.penstock.filesystem.CreatedFile;
import io.penstock.filesystem.Creator;
import io.penstock.filesystem.FileSystem;
import io.penstock.filesystem.FileSystemConfig;
import io.penstock.filesystem.Passthrough;
import io.penstock.filesystem.files.FetchedContent;
import io.penstock.filesystem.names.Exclusive;
import io.penstock.filesystem.names.Links;
import io.penstock.filesystem.names.Writing;
import io.penstock.fuse.InProcessMount.Binding;
import io.penstock.metadata.MetadataConfig;
import io.penstock.metadata.Tree;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.prefetch.PageFetcher;
import io.penstock.prefetch.ReadaheadConfig;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WritebackConfig;
import io.penstock.writeback.WritebackStatistics;
import io.penstock.writeback.upload.Uploads.PartSizes;
import io.penstock.writeback.upload.WritebackLimits;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/** A real, writable mount of a bucket in memory, in this process. */
final class WritableBucket implements AutoCloseable {
    private static final Duration TTL = Duration.ofMinutes(1);
    private static final long MIB = 1 << 20;
    private static final int O_WRONLY = 1;

    final InMemoryObjectStore bucket;
    final Path mountPoint;

    private final PageCache cache;
    private final PageFetcher fetcher;
    private final Tree tree;
    private final Writeback writeback;
    private final FileSystem fileSystem;
    private final Mount mount;

    /**
     * @param bucket may have been mounted before; that mount is closed
     * @param writebackCache whether the kernel collects written bytes
     */
    WritableBucket(Binding binding, Path folder, InMemoryObjectStore bucket, boolean writebackCache)
            throws IOException, MountException, InterruptedException {
        this.bucket = bucket;
        assumeTrue(
                Files.isWritable(Path.of("/dev/fuse")), "there is no /dev/fuse, or not for this user: nothing mounted");
        mountPoint = Files.createDirectories(folder.resolve("mount"));
        Path cacheFolder = folder.resolve("cache");
        cache = PageCache.open(new CacheConfig(cacheFolder, 64 * MIB, 0, 16 * MIB));
        fetcher = new PageFetcher(bucket, cache, "test", new ReadaheadConfig(8 * MIB, 2 * MIB, 8, MIB));
        tree = new Tree(bucket, "", new MetadataConfig(TTL, TTL), System::nanoTime);
        WritebackConfig config = new WritebackConfig(
                folder.resolve("staging"),
                WritebackConfig.Close.VISIBLE,
                WritebackConfig.Fsync.STAGED,
                PartSizes.GROWING,
                1L << 40,
                new WritebackLimits.Values(4, 4, 4, 64 * MIB, 1L << 30, 8 * MIB));
        writeback = Writeback.open(bucket, cache, "test", new FetchedContent(fetcher), config);
        fileSystem = new FileSystem(
                tree,
                fetcher,
                KeptAttributes.none(bucket, tree),
                new FileSystemConfig(
                        0, 0, 0644, 0755, AllowedUsers.ALL, Long.MAX_VALUE, Passthrough.VERIFIED, 0, writebackCache),
                Instant.EPOCH,
                new Writing(
                        bucket,
                        writeback,
                        Exclusive.CLOSE,
                        Links.COPY,
                        InstantSource.system(),
                        System::nanoTime,
                        Writing.MOST_RENAMED,
                        false));
        MountOptions options = new MountOptions(
                mountPoint,
                "s3://bucket",
                false,
                false,
                false,
                Duration.ofSeconds(60),
                MIB,
                4,
                writebackCache ? null : cacheFolder,
                writebackCache);
        mount = binding.mount(fileSystem, options);
    }

    /** The object's content; null if there is none. */
    byte @Nullable [] stored(String key) throws ObjectStoreException, InterruptedException {
        try {
            ObjectVersion version = bucket.head(key).version();
            ByteBuffer content = ByteBuffer.allocate((int) version.size());
            if (version.size() > 0) {
                bucket.get(version, new ByteRange(0, version.size()), new Sink(content));
            }
            return content.array();
        } catch (ObjectStoreException.NotFound e) {
            return null;
        }
    }

    @Nullable
    String storedText(String key) throws ObjectStoreException, InterruptedException {
        byte[] content = stored(key);
        return content == null ? null : new String(content, StandardCharsets.UTF_8);
    }

    private record Sink(ByteBuffer content) implements BodySink {
        @Override
        public ByteBuffer buffer() {
            return content.slice();
        }

        @Override
        public void filled(int bytes) {
            content.position(content.position() + bytes);
        }
    }

    /** Creates a file that Penstock knows but the kernel does not: to the kernel it looks like another node's. */
    void makeUnseen(String name, String content) throws ErrnoException {
        CreatedFile made = fileSystem.create(FileSystem.ROOT, name, 0644, new Creator(0, 0), O_WRONLY);
        long handle = made.open().handle();
        int _ = fileSystem.write(
                handle, 0, ByteBuffer.wrap(content.getBytes(StandardCharsets.UTF_8)), O_WRONLY, false, true);
        fileSystem.flush(handle);
        fileSystem.release(handle);
        fileSystem.forget(made.attributes().inode(), 1);
    }

    /** The number of the kernel's requests so far. */
    long requests() {
        return mount.requests();
    }

    /** The bytes sent to the store, and those copied by the store. */
    WritebackStatistics statistics() {
        return writeback.statistics();
    }

    /** Waits until every closed file is committed, and the listener has been notified. */
    void drain() throws InterruptedException {
        writeback.drain();
    }

    /** Runs a shell script in the mount, and returns its output. If a command in it fails, the test fails. */
    String sh(String script) throws IOException, InterruptedException {
        Process shell = new ProcessBuilder("bash", "-euo", "pipefail", "-c", script)
                .directory(mountPoint.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(shell.waitFor()).as(script + "\n" + output).isZero();
        return output;
    }

    @Override
    public void close() {
        mount.close();
        try {
            mount.awaitUnmounted();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("still in use: " + mountPoint, e);
        }
        fileSystem.close();
        writeback.close();
        tree.close();
        fetcher.close();
        cache.close();
    }
}

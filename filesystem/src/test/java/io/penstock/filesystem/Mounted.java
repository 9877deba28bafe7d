package io.penstock.filesystem;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.cache.CacheConfig;
import io.penstock.cache.PageCache;
import io.penstock.core.ByteRange;
import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.files.FetchedContent;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.filesystem.names.Exclusive;
import io.penstock.filesystem.names.Links;
import io.penstock.filesystem.names.Writing;
import io.penstock.metadata.MetadataConfig;
import io.penstock.metadata.Tree;
import io.penstock.metadata.attributes.DirectoryMarkers;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.metadata.attributes.KeptAttributes.Keeping;
import io.penstock.metadata.attributes.MarkingObjectStore;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.prefetch.PageFetcher;
import io.penstock.prefetch.ReadaheadConfig;
import io.penstock.testing.DelayingObjectStore;
import io.penstock.testing.Fault;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import io.penstock.testing.RecordingObjectStore;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WritebackConfig;
import io.penstock.writeback.WritebackConfig.Close;
import io.penstock.writeback.WritebackStatistics;
import io.penstock.writeback.WrittenFile;
import io.penstock.writeback.survivors.Outliving;
import io.penstock.writeback.upload.Uploads.PartSizes;
import io.penstock.writeback.upload.WritebackLimits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;

/**
 * A file system over a bucket in memory, with all layers between them. Closing it checks that nothing leaked, provided
 * that the test has released its handles and forgotten its inodes.
 */
public final class Mounted implements AutoCloseable {
    public static final Duration TTL = Duration.ofSeconds(60);
    public static final Duration NEGATIVE_TTL = Duration.ofSeconds(5);
    static final Instant MOUNT_TIME = Instant.parse("2026-06-01T00:00:00Z");
    static final int UID = 1000;
    static final int GID = 100;

    /** The user that has mounted it. */
    static final Creator CREATOR = new Creator(UID, GID);

    /** Bytes of the smallest file that is passed through. */
    static final int PASSTHROUGH_FROM = 2;

    static final long LARGEST_OBJECT = 1L << 40;

    /** The maximum number of listed entries in memory; one directory may have half of them. */
    static final int MOST_LISTED = 10_000;

    /** The maximum number of names that the kernel may cache. */
    static final int MOST_NAMES = 3_000;

    // open(2).
    static final int O_WRONLY = 1;
    static final int O_RDWR = 2;
    static final int O_CREAT = 0100;
    static final int O_EXCL = 0200;
    static final int O_TRUNC = 01000;
    static final int O_APPEND = 02000;
    static final int O_SYNC = 04010000;

    private static final int MIB = 1 << 20;
    private static final AtomicLong MOUNTS = new AtomicLong();

    final ManualClock clock;
    final InMemoryObjectStore bucket;
    final DelayingObjectStore delays;
    final FaultyObjectStore faults;
    final RecordingObjectStore store;
    final FileSystem fs;

    private final String namespace;
    private final Keeping keeping;
    private final PageFetcher fetcher;
    final Tree tree;
    private final KeptAttributes kept;
    private final @Nullable Writeback writeback;

    /** open(2)'s, by handle. */
    private final Map<Long, Integer> flags = new ConcurrentHashMap<>();

    /** Lookups to forget at the end; tests look up from several threads. */
    private final Queue<Long> lookups = new ConcurrentLinkedQueue<>();

    /**
     * A read-only one, which ignores attributes that objects keep.
     *
     * @param cache may be shared: each has a namespace of its own in it
     */
    Mounted(PageCache cache) {
        this(cache, newNamespace(), null, null, Exclusive.CLOSE, false, Keeping.IGNORE);
    }

    /** The same, with attributes that objects keep, as users mount it if they set nothing. */
    static Mounted readOnly(PageCache cache, Keeping keeping) {
        return new Mounted(cache, newNamespace(), null, null, Exclusive.CLOSE, false, keeping);
    }

    private static String newNamespace() {
        return "bucket-" + MOUNTS.incrementAndGet();
    }

    private Mounted(
            PageCache cache,
            String namespace,
            @Nullable InMemoryObjectStore bucket,
            @Nullable WritebackConfig config,
            Exclusive exclusive,
            boolean kernelKeepsSizes,
            Keeping keeping) {
        this(cache, namespace, bucket, config, exclusive, kernelKeepsSizes, keeping, Writing.MOST_RENAMED, false, null);
    }

    /**
     * All other constructors call this one.
     *
     * @param namespace of the bucket, in the cache and in staging
     * @param bucket the mounted bucket; null for a new one
     * @param config null if it is read-only
     * @param kernelKeepsSizes as {@link FileSystemConfig} has it
     * @param isContinued as {@link Writing} has it
     * @param outliving null if written files end with the process
     */
    private Mounted(
            PageCache cache,
            String namespace,
            @Nullable InMemoryObjectStore bucket,
            @Nullable WritebackConfig config,
            Exclusive exclusive,
            boolean kernelKeepsSizes,
            Keeping keeping,
            int mostRenamed,
            boolean isContinued,
            @Nullable Outliving outliving) {
        this.clock = new ManualClock();
        this.namespace = namespace;
        this.keeping = keeping;
        this.bucket =
                bucket == null ? new InMemoryObjectStore("bucket", clock, InMemoryObjectStore.Order.UTF8) : bucket;
        delays = new DelayingObjectStore(this.bucket);
        faults = new FaultyObjectStore(delays);
        store = new RecordingObjectStore(faults);
        fetcher = new PageFetcher(store, cache, namespace, ReadaheadConfig.DEFAULT);
        tree = new Tree(store, "", new MetadataConfig(TTL, NEGATIVE_TTL, MOST_LISTED), clock::nanoTime);
        DirectoryMarkers markers = new DirectoryMarkers(store, tree, clock::nanoTime);
        kept = new KeptAttributes(store, markers, keeping, null);
        ObjectStore marking = new MarkingObjectStore(store, markers);
        writeback = config == null ? null : open(marking, cache, config, outliving);
        Writing writing = writeback == null
                ? null
                : new Writing(
                        marking, writeback, exclusive, Links.COPY, clock, clock::nanoTime, mostRenamed, isContinued);
        FileSystemConfig files = new FileSystemConfig(
                UID,
                GID,
                0640,
                0751,
                AllowedUsers.ALL,
                MOST_NAMES,
                Passthrough.VERIFIED,
                PASSTHROUGH_FROM,
                kernelKeepsSizes);
        fs = new FileSystem(tree, fetcher, kept, files, MOUNT_TIME, writing);
    }

    private Writeback open(ObjectStore store, PageCache cache, WritebackConfig config, @Nullable Outliving outliving) {
        try {
            return Writeback.open(store, cache, namespace, new FetchedContent(fetcher), config, outliving);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A writable one. */
    static Mounted writable(PageCache cache, Path staging) {
        return new Mounted(
                cache, newNamespace(), null, config(staging, Close.VISIBLE), Exclusive.CLOSE, false, Keeping.IGNORE);
    }

    /** One that can be written and keeps attributes, over a bucket that another may have mounted before; null for a new one. */
    static Mounted keeping(PageCache cache, Path staging, @Nullable InMemoryObjectStore bucket, Keeping keeping) {
        return new Mounted(
                cache, newNamespace(), bucket, config(staging, Close.VISIBLE), Exclusive.CLOSE, false, keeping);
    }

    /** The same with this configuration. */
    static Mounted keeping(PageCache cache, InMemoryObjectStore bucket, WritebackConfig config) {
        return new Mounted(cache, newNamespace(), bucket, config, Exclusive.CLOSE, false, Keeping.KEEP);
    }

    /** The same, in which directories of more objects cannot be renamed. */
    static Mounted renaming(PageCache cache, Path staging, @Nullable InMemoryObjectStore bucket, int mostRenamed) {
        WritebackConfig config = config(staging, Close.VISIBLE);
        return new Mounted(
                cache, newNamespace(), bucket, config, Exclusive.CLOSE, false, Keeping.KEEP, mostRenamed, false, null);
    }

    /** The next mount of the same bucket, which finds what an earlier one has left in staging. */
    static Mounted after(Mounted earlier, PageCache cache, Path staging) {
        WritebackConfig config = config(staging, Close.VISIBLE);
        return new Mounted(cache, earlier.namespace, earlier.bucket, config, Exclusive.CLOSE, false, Keeping.KEEP);
    }

    /** The same mount in its next process, which has nothing in staging: {@link FileSystem#inherit} follows. */
    static Mounted successor(Mounted former, PageCache cache, Path staging) {
        return new Mounted(
                cache,
                former.namespace,
                former.bucket,
                config(staging, Close.VISIBLE),
                Exclusive.CLOSE,
                false,
                Keeping.KEEP,
                Writing.MOST_RENAMED,
                true,
                null);
    }

    /** A process of a mount whose written files outlive it. */
    static Mounted surviving(PageCache cache, Path staging, @Nullable InMemoryObjectStore bucket, Outliving outliving) {
        return new Mounted(
                cache,
                newNamespace(),
                bucket,
                config(staging, Close.VISIBLE),
                Exclusive.CLOSE,
                false,
                Keeping.KEEP,
                Writing.MOST_RENAMED,
                false,
                outliving);
    }

    /** A writable one, whose kernel collects written bytes. */
    static Mounted writtenBack(PageCache cache, Path staging) {
        return new Mounted(
                cache, newNamespace(), null, config(staging, Close.VISIBLE), Exclusive.CLOSE, true, Keeping.IGNORE);
    }

    /** A writable one, over a bucket that another has mounted before. */
    static Mounted writable(PageCache cache, InMemoryObjectStore bucket, WritebackConfig config) {
        return new Mounted(cache, newNamespace(), bucket, config, Exclusive.CLOSE, false, Keeping.IGNORE);
    }

    /** The same, but the store makes opens exclusive. */
    static Mounted exclusive(PageCache cache, InMemoryObjectStore bucket, WritebackConfig config) {
        return new Mounted(cache, newNamespace(), bucket, config, Exclusive.STORE, false, Keeping.IGNORE);
    }

    /**
     * The process is killed while no call is under way.
     *
     * @param found an empty folder, which gets what is staged at this moment
     * @return what the next process mounts
     */
    Mounted crash(PageCache cache, Path found) throws IOException {
        return crash(cache, found, false);
    }

    /** The same for a mount that outlives its process: {@link FileSystem#inherit} follows. */
    Mounted kill(PageCache cache, Path found) throws IOException {
        return crash(cache, found, true);
    }

    private Mounted crash(PageCache cache, Path found, boolean isContinued) throws IOException {
        Writeback killed = requireNonNull(writeback);
        try (DirectoryStream<Path> staged =
                Files.newDirectoryStream(killed.config().staging())) {
            for (Path file : staged) {
                Files.copy(file, found.resolve(file.getFileName()));
            }
        }
        faults.always(_ -> true, Fault.fail(ObjectStoreException.Unavailable::new)); // it sends nothing more
        fs.close();
        killed.close();
        tree.close();
        fetcher.close();
        return new Mounted(
                cache,
                namespace,
                bucket,
                config(found, killed.config().close()),
                Exclusive.CLOSE,
                false,
                keeping,
                Writing.MOST_RENAMED,
                isContinued,
                null);
    }

    /** A folder and all that is in it. */
    static void deleteAll(Path top) throws IOException {
        List<Path> all;
        try (Stream<Path> files = Files.walk(top)) {
            all = files.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path file : all) {
            Files.delete(file);
        }
    }

    static WritebackConfig config(Path staging, Close close) {
        return new WritebackConfig(
                staging,
                close,
                WritebackConfig.Fsync.STAGED,
                PartSizes.GROWING,
                LARGEST_OBJECT,
                new WritebackLimits.Values(4, 4, 4, 16L << 20, 1L << 30, 8 << 20));
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
        return open(path, 0);
    }

    OpenFile open(String path, int flags) throws ErrnoException {
        return opened(walked(() -> fs.open(lookup(path).inode(), flags)), flags);
    }

    /** Makes a file and leaves it open. */
    OpenFile create(String path, int flags) throws ErrnoException {
        return create(path, 0644, CREATOR, flags);
    }

    /** The same. On ESTALE the kernel looks the path up anew, and opens the file if it exists. */
    OpenFile create(String path, int mode, Creator creator, int flags) throws ErrnoException {
        try {
            return made(path, mode, creator, flags);
        } catch (ErrnoException e) {
            if (e.errno() != Errno.ESTALE) {
                throw e;
            }
        }
        try {
            return open(path, flags);
        } catch (ErrnoException e) {
            if (e.errno() != Errno.ENOENT) {
                throw e;
            }
            return made(path, mode, creator, flags);
        }
    }

    private OpenFile made(String path, int mode, Creator creator, int flags) throws ErrnoException {
        CreatedFile created = fs.create(parent(path), name(path), mode, creator, flags);
        lookups.add(created.attributes().inode());
        return opened(created.open(), flags);
    }

    private OpenFile opened(OpenFile file, int openFlags) {
        flags.put(file.handle(), openFlags);
        return file;
    }

    /** The flags of open(2) of an open file, which the kernel sends with each write. */
    int flags(OpenFile file) {
        return flags.getOrDefault(file.handle(), 0);
    }

    /** As fcntl(2) does. */
    void setFlags(OpenFile file, int openFlags) {
        flags.put(file.handle(), openFlags);
    }

    /** The action at a path's end. */
    private interface Walk<T> {
        T end() throws ErrnoException;
    }

    /** As the kernel does, which walks the path once more upon ESTALE. */
    private static <T> T walked(Walk<T> walk) throws ErrnoException {
        try {
            return walk.end();
        } catch (ErrnoException e) {
            if (e.errno() != Errno.ESTALE) {
                throw e;
            }
            return walk.end();
        }
    }

    void write(OpenFile file, long position, String text) throws ErrnoException {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        int length = bytes.remaining();
        assertThat(fs.write(file.handle(), position, bytes, flags(file), false, true))
                .isEqualTo(length);
    }

    /** As close(2) does: the kernel flushes, then releases, even if the flush has failed. */
    void close(OpenFile file) throws ErrnoException {
        try {
            fs.flush(file.handle());
        } finally {
            fs.release(file.handle());
        }
    }

    /** Makes a file, writes and closes it. */
    void save(String path, String text) throws ErrnoException {
        OpenFile file = create(path, O_WRONLY | O_TRUNC);
        write(file, 0, text);
        close(file);
    }

    void mkdir(String path) throws ErrnoException {
        lookups.add(fs.mkdir(parent(path), name(path), 0755, CREATOR).inode());
    }

    void rmdir(String path) throws ErrnoException {
        fs.rmdir(parent(path), name(path));
    }

    void unlink(String path) throws ErrnoException {
        fs.unlink(parent(path), name(path));
    }

    void rename(String from, String to, int flags) throws ErrnoException {
        fs.rename(parent(from), name(from), parent(to), name(to), flags);
    }

    void truncate(String path, @Nullable OpenFile file, long size) throws ErrnoException {
        AttributeChange change = new AttributeChange(null, null, null, size, null, null, null);
        Long handle = file == null ? null : file.handle();
        walked(() -> fs.setattr(lookup(path).inode(), handle, change));
    }

    long parent(String path) throws ErrnoException {
        int slash = path.lastIndexOf('/');
        return slash < 0 ? FileSystem.ROOT : lookup(path.substring(0, slash)).inode();
    }

    private static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** The object's content as the store has it now; null if there is none. */
    @Nullable
    String stored(String key) throws ObjectStoreException, InterruptedException {
        byte[] content = bytes(key);
        return content == null ? null : new String(content, StandardCharsets.UTF_8);
    }

    /** The same in bytes. */
    byte @Nullable [] bytes(String key) throws ObjectStoreException, InterruptedException {
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

    /** Waits until all pending commits and deletions are done. */
    void drain() throws InterruptedException {
        fs.awaitBackgroundTasks();
        if (writeback != null) {
            writeback.drain();
        }
    }

    /** The only file found in staging. */
    WrittenFile recovered() {
        List<WrittenFile> all = requireNonNull(writeback).recovered();
        assertThat(all).hasSize(1);
        return all.getFirst();
    }

    WritebackStatistics uncommitted() {
        return requireNonNull(writeback).statistics();
    }

    /** Reads all of an open file, as text. */
    String read(OpenFile file) throws ErrnoException {
        ByteBuffer content = ByteBuffer.allocate(MIB);
        int bytes = fs.read(file.handle(), 0, content, null, true);
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

    List<Call> drainCalls() {
        return store.drain();
    }

    public static void assertErrno(Errno errno, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        ErrnoException.class, e -> assertThat(e.errno()).isEqualTo(errno));
    }

    @Override
    public void close() {
        lookups.forEach(inode -> fs.forget(inode, 1));
        int handles = fs.openHandles();
        fs.close();
        if (writeback != null) {
            try {
                writeback.drain();
            } catch (InterruptedException e) {
                throw new AssertionError("interrupted while what is uncommitted is committed", e);
            }
            writeback.close();
        }
        int inodes = fs.inodesInUse();
        tree.close();
        fetcher.close();
        assertThat(handles).as("open handles").isZero();
        assertThat(inodes).as("inodes in use").isZero();
        assertThat(store.getsInFlight()).as("GETs in flight").isZero();
    }
}

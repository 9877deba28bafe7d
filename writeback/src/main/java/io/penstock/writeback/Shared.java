package io.penstock.writeback;

import io.penstock.cache.PageCache;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.Writeback.Listener;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** What all written files of a mount share. Safe for use by any number of threads. */
final class Shared {
    private final ObjectStore store;
    private final WritebackConfig config;
    private final WritebackLimits limits;
    private final BaseContent base;
    private final BlockMemory memory;
    private final Reclaim reclaim;
    private final Staging staging;
    private final Upload.Factory uploads;
    private final CommittedPages pages;
    private final InstantSource clock;
    private final Pacing pacing;
    private final Set<WrittenFile> files = ConcurrentHashMap.newKeySet();
    private final Set<Commit> running = ConcurrentHashMap.newKeySet();

    private final ExecutorService commits = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("commit-", 0).factory());

    private volatile @Nullable Listener listener;
    private final AtomicInteger failed = new AtomicInteger();
    private volatile boolean closed;

    /** @param limits those of the configuration, which uploads have too */
    Shared(
            ObjectStore store,
            WritebackConfig config,
            WritebackLimits limits,
            BaseContent base,
            Staging staging,
            Upload.Factory uploads,
            CommittedPages pages,
            InstantSource clock,
            Pacing pacing) {
        this.store = store;
        this.config = config;
        this.limits = limits;
        this.base = base;
        this.staging = staging;
        this.uploads = uploads;
        this.pages = pages;
        this.clock = clock;
        this.pacing = pacing;
        this.memory = new BlockMemory(() -> limits.get().dirtyBytes(), this::wakeReclaim);
        this.reclaim = new Reclaim(memory, () -> files.stream().map(WrittenFile::bytes));
        limits.whenChanged(() -> {
            memory.limitChanged();
            wakeReclaim();
        });
        reclaim.start();
    }

    private void wakeReclaim() {
        reclaim.wake();
    }

    WritebackConfig config() {
        return config;
    }

    WritebackLimits limits() {
        return limits;
    }

    BaseContent base() {
        return base;
    }

    /** What lies below a file that has nothing staged. */
    Ground ground(@Nullable ObjectVersion version) {
        return new Ground(version, base, staging.newFile());
    }

    BlockMemory memory() {
        return memory;
    }

    Reclaim reclaim() {
        return reclaim;
    }

    Staging staging() {
        return staging;
    }

    Upload.Factory uploads() {
        return uploads;
    }

    /** Of who begins to wait now: that of the call which this is a part of, if there is one. */
    Deadline deadline() {
        Deadline outer = Deadline.current();
        return outer == null ? deadlineBehind() : outer;
    }

    /** Of what begins now and nobody waits for. */
    Deadline deadlineBehind() {
        return store.retries().forWriting();
    }

    Pacing pacing() {
        return pacing;
    }

    CommittedPages pages() {
        return pages;
    }

    /** @throws RejectedExecutionException if this is closed */
    void execute(Commit commit) {
        running.add(commit);
        try {
            commits.execute(() -> {
                try {
                    commit.run();
                } finally {
                    running.remove(commit);
                }
            });
        } catch (RejectedExecutionException e) {
            running.remove(commit);
            throw e;
        }
    }

    /** Has it done by a thread of its own; at once if the mount ends. */
    void behind(Runnable task) {
        try {
            commits.execute(task);
        } catch (RejectedExecutionException e) {
            task.run();
        }
    }

    Instant now() {
        return clock.instant();
    }

    Set<WrittenFile> files() {
        return files;
    }

    WrittenFile add(WrittenFile file) {
        files.add(file);
        return file;
    }

    void listen(Listener told) {
        listener = told;
    }

    /**
     * The object, if it is another version than the content was written over, of the same size and with all bytes that
     * were written here: null if not. Bytes of the version beneath do not count, for that is gone: whoever has made the
     * object, nothing that was written here is missing in it.
     */
    @Nullable
    ObjectVersion earlierCommit(StillContent content) throws ObjectStoreException, IOException, InterruptedException {
        ObjectVersion there;
        try {
            there = store.head(content.key()).version();
        } catch (ObjectStoreException.NotFound e) {
            return null;
        }
        ObjectVersion beneath = content.ground().version();
        if (there.size() != content.size()
                || (beneath != null && beneath.identity().equals(there.identity()))) {
            return null;
        }
        try (BaseContent.Reader reader = base.open(there)) {
            for (ByteRange written : content.written()) {
                if (!isSame(content, reader, written)) {
                    return null;
                }
            }
        }
        return there;
    }

    /** The object, if it is another than the condition asks for: null if it is that one, or none, or if any will do. */
    @Nullable
    ObjectVersion other(String key, WriteCondition condition) throws ObjectStoreException, InterruptedException {
        ObjectVersion there;
        try {
            there = store.head(key).version();
        } catch (ObjectStoreException.NotFound e) {
            return null;
        }
        return switch (condition) {
            case WriteCondition.Always _ -> null;
            case WriteCondition.Absent _ -> there;
            case WriteCondition.Unchanged(String etag) -> etag.equals(there.etag()) ? null : there;
        };
    }

    /** Of all of an object, which is read for that. */
    int crc32c(ObjectVersion version) throws ObjectStoreException, InterruptedException {
        CRC32C sum = new CRC32C();
        ByteBuffer buffer = ByteBuffer.allocate(PageCache.PAGE_SIZE);
        try (BaseContent.Reader reader = base.open(version)) {
            for (long position = 0; position < version.size(); position += buffer.limit()) {
                buffer.clear().limit((int) Math.min(buffer.capacity(), version.size() - position));
                reader.read(position, buffer);
                sum.update(buffer.flip());
            }
        }
        return (int) sum.getValue();
    }

    /** A copy by the store, whose upload, if it takes one, stands in a journal of its own. */
    ObjectVersion copy(ObjectVersion source, String key, ObjectProperties properties, WriteCondition condition)
            throws ObjectStoreException, InterruptedException {
        StagedFile noted = staging.newFile();
        FileJournal journal =
                new FileJournal(noted, () -> new JournalRecord.Opened(staging.namespace(), key, null, null));
        try {
            PartLayout layout = PartLayout.planned(source.size(), limits.get().partBytes());
            return store.copy(source, key, properties, condition, journal.copying(layout));
        } finally {
            noted.remove(); // but the journal stays as long as the upload does
        }
    }

    /** Whether the store shows that the condition does not hold. */
    boolean isReplaced(String key, WriteCondition condition) throws ObjectStoreException, InterruptedException {
        String etag = etag(key);
        return switch (condition) {
            case WriteCondition.Always _ -> false;
            case WriteCondition.Absent _ -> etag != null;
            case WriteCondition.Unchanged(String expected) -> !expected.equals(etag);
        };
    }

    /** Null if there is no such object, in a bucket that there is: a HEAD does not tell one from the other. */
    private @Nullable String etag(String key) throws ObjectStoreException, InterruptedException {
        try {
            return store.head(key).version().etag();
        } catch (ObjectStoreException.NotFound e) {
            store.list(new ListRequest(key, "", null, null, 1));
            return null;
        }
    }

    private static boolean isSame(StillContent content, BaseContent.Reader there, ByteRange range)
            throws ObjectStoreException, IOException, InterruptedException {
        ByteBuffer ours = ByteBuffer.allocate(PageCache.PAGE_SIZE);
        ByteBuffer theirs = ByteBuffer.allocate(PageCache.PAGE_SIZE);
        for (long position = range.offset(); position < range.end(); position += ours.limit()) {
            int length = (int) Math.min(ours.capacity(), range.end() - position);
            content.readAt(position, ours.clear().limit(length));
            there.read(position, theirs.clear().limit(length));
            if (!ours.flip().equals(theirs.flip())) {
                return false;
            }
        }
        return true;
    }

    void committed(WrittenFile file, StoredObject object) {
        Listener told = listener;
        if (told != null) {
            told.committed(file, object);
        }
    }

    /**
     * The file is gone. Whoever has drained finds that the listener knows it.
     *
     * @param givenUp whether it is not committed
     * @param kept whether it should have been
     */
    void ended(WrittenFile file, boolean givenUp, boolean kept) {
        if (kept) {
            failed.incrementAndGet();
        }
        Listener told = listener;
        if (givenUp && told != null) {
            told.givenUp(file);
        }
        synchronized (files) {
            files.remove(file);
            files.notifyAll();
        }
    }

    /** Waits until none of the files that are meant is left without a handle. */
    void drain(Predicate<WrittenFile> meant) throws InterruptedException {
        synchronized (files) {
            while (files.stream().filter(meant).anyMatch(WrittenFile::isBehind)) {
                files.wait();
            }
        }
    }

    WritebackStatistics statistics(Uploads transfers, int kept) {
        int backlogFiles = 0;
        long backlogBytes = 0;
        for (WrittenFile file : files) {
            long left = file.backlogBytes();
            if (left >= 0) {
                backlogFiles++;
                backlogBytes += left;
            }
        }
        return new WritebackStatistics(
                memory.usedBytes(),
                staging.usedBytes(),
                backlogFiles,
                backlogBytes,
                transfers.uploadedBytes(),
                transfers.copiedBytes(),
                kept + failed.get());
    }

    boolean isClosed() {
        return closed;
    }

    /**
     * Makes durable in staging what is neither committed nor durable, of all files side by side. An interrupt ends it, and
     * the flag is set again.
     *
     * @return the keys of those of which that was not possible
     */
    List<String> stage() {
        Queue<String> failed = new ConcurrentLinkedQueue<>();
        ThreadFactory named = Thread.ofVirtual().name("leave-", 0).factory();
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(named)) {
            for (WrittenFile file : files) {
                threads.execute(() -> {
                    if (!file.leave()) {
                        failed.add(file.key());
                    }
                });
            }
        }
        return failed.stream().sorted().toList();
    }

    /** Ends the commits for good, without the store. May be called again. */
    void endCommits() {
        closed = true;
        commits.shutdown();
        running.forEach(Commit::cancel); // those that wait for the store: what is done there is brought to its end here
        try {
            var _ = commits.awaitTermination(1, TimeUnit.MINUTES);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    void close() {
        endCommits();
        reclaim.close();
        files.forEach(WrittenFile::stop);
    }
}

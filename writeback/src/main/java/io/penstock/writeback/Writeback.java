package io.penstock.writeback;

import io.penstock.cache.PageCache;
import io.penstock.core.KernelRequest;
import io.penstock.core.ObjectVersion;
import io.penstock.disk.DataFolder;
import io.penstock.disk.FolderLock;
import io.penstock.disk.WorkingFolder;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.UploadListener;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.MountContext.CommittedPages;
import io.penstock.writeback.WrittenFile.Uncommitted;
import io.penstock.writeback.bytes.BaseContent;
import io.penstock.writeback.bytes.BlockMemory;
import io.penstock.writeback.bytes.FileResources;
import io.penstock.writeback.bytes.Reclaim;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockSource;
import io.penstock.writeback.journal.JournalRecord;
import io.penstock.writeback.staging.FileJournal;
import io.penstock.writeback.staging.Recovery;
import io.penstock.writeback.staging.StagedFile;
import io.penstock.writeback.staging.Staging;
import io.penstock.writeback.staging.StagingFolder;
import io.penstock.writeback.staging.StrandedFile;
import io.penstock.writeback.staging.UnreadableFile;
import io.penstock.writeback.survivors.Outliving;
import io.penstock.writeback.survivors.SurvivorLog;
import io.penstock.writeback.survivors.Survivors;
import io.penstock.writeback.upload.PartLayout;
import io.penstock.writeback.upload.Uploads;
import io.penstock.writeback.upload.WritebackLimits;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of one mount that are being written, or were and are not committed yet. Safe for use by any number of
 * threads.
 */
public final class Writeback implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Writeback.class);

    /** Bytes of a logical block, the unit of staging and of parts. */
    public static final int BLOCK_SIZE = Block.BLOCK_SIZE;

    private final MountContext context;
    private final WrittenFiles files;
    private final WritebackLimits limits;
    private final List<WrittenFile> recovered;
    private final List<WrittenFile> survivors;
    private final @Nullable Survivors left;
    private final List<RecoverableFile> pending;
    private final List<RecoverableFile> failed;
    private final List<Recovery.Orphans> orphans;
    private final List<UnreadableFile> unreadable;
    private final List<StrandedFile> stranded;

    private Writeback(
            MountContext context,
            WrittenFiles files,
            WritebackLimits limits,
            Recovery found,
            @Nullable Survivors left) {
        this.left = left;
        this.context = context;
        this.files = files;
        this.limits = limits;
        this.pending = found.found().stream()
                .map(each -> new RecoverableFile(files.add(WrittenFile.recovered(context, files, each)), each))
                .toList();
        this.failed = found.failed().stream()
                .map(each -> new RecoverableFile(WrittenFile.recovered(context, files, each), each))
                .sorted(Comparator.comparing(RecoverableFile::key).thenComparing(RecoverableFile::modified))
                .toList();
        Map<String, RecoverableFile> last = new HashMap<>();
        Stream.concat(failed.stream().filter(file -> !file.isOlder()), pending.stream())
                .forEach(file -> last.put(file.key(), file));
        failed.stream().filter(file -> last.get(file.key()) != file).forEach(RecoverableFile::setOlder);
        this.orphans = found.orphans();
        this.unreadable = List.copyOf(found.unreadable());
        this.stranded = List.copyOf(found.stranded());
        List<WrittenFile> all = pending.stream().map(RecoverableFile::file).toList();
        Set<WrittenFile> outlived = pending.stream()
                .filter(RecoverableFile::isSurvivor)
                .map(RecoverableFile::file)
                .collect(Collectors.toSet());
        this.survivors = List.copyOf(outlived);
        this.recovered = all.stream().filter(file -> !outlived.contains(file)).toList();
        SurvivorLog log = context.log();
        if (log != null) {
            Set<Long> numbers = survivors.stream().map(WrittenFile::number).collect(Collectors.toSet());
            log.begin(left == null ? List.of() : left.files(), numbers);
        }
    }

    /** Notified of the end of commits by the committing thread, before waiting callers continue. Must not wait. */
    public interface Listener {
        /** The object is now at this version. */
        void committed(WrittenFile file, StoredObject object);

        /**
         * The file is closed and its commit failed: its content waits for {@code penstock recover}, and its name shows
         * the store's object again.
         */
        void abandoned(WrittenFile file);
    }

    /**
     * Opens the staging folder and takes over the files that earlier runs left in it.
     *
     * @throws IOException with a message for the user if the folder cannot be read, is not Penstock's, or another
     *     process uses it. A folder that cannot be written is no error: writing continues in memory, and one message
     *     reports it
     * @throws ClosedByInterruptException if the thread is interrupted before the folder is open
     */
    public static Writeback open(
            ObjectStore store, PageCache cache, String namespace, BaseContent base, WritebackConfig config)
            throws IOException {
        return open(store, cache, namespace, base, config, null);
    }

    /** @param outliving null if the mount ends with its process */
    public static Writeback open(
            ObjectStore store,
            PageCache cache,
            String namespace,
            BaseContent base,
            WritebackConfig config,
            @Nullable Outliving outliving)
            throws IOException {
        WritebackLimits limits = new WritebackLimits(config.limits());
        DataFolder files = stagingFiles(config.staging());
        Staging staging = new Staging(files, namespace, () -> limits.get().stagingBytes(), System::nanoTime);
        boolean staged = config.close() == WritebackConfig.Close.STAGED;
        Uploads uploads = new Uploads(
                store,
                config.partSizes(),
                config.largestObjectBytes(),
                limits,
                () -> staged && staging.isBusy(),
                System::nanoTime);
        Recovery left = earlierRuns(staging, outliving);
        CommittedPages pages = new CachedPages(cache, namespace);
        return of(
                store,
                config,
                limits,
                base,
                staging,
                uploads,
                pages,
                Clock.systemUTC(),
                CommitTiming.DEFAULT,
                left,
                outliving);
    }

    /**
     * @param limits of the configuration, shared with {@code uploads}
     * @param left the files of earlier runs
     */
    static Writeback of(
            ObjectStore store,
            WritebackConfig config,
            WritebackLimits limits,
            BaseContent base,
            Staging staging,
            Uploads uploads,
            CommittedPages pages,
            InstantSource clock,
            CommitTiming timing,
            Recovery left,
            @Nullable Outliving outliving)
            throws IOException {
        WrittenFiles files = new WrittenFiles();
        BlockSource system = outliving == null ? BlockMemory::allocate : outliving.memory();
        Reclaim reclaim = new Reclaim(limits, files::stagings, system);
        Survivors survivors = outliving == null ? null : outliving.left();
        AtomicLong lastNumber = new AtomicLong(survivors == null ? 0 : survivors.lastNumber());
        SurvivorLog log = outliving == null ? null : new SurvivorLog(outliving, lastNumber, files::records);
        MountContext context = new MountContext(
                config,
                store,
                new FileResources(reclaim, staging, base),
                uploads,
                pages,
                new Background(),
                timing,
                clock,
                lastNumber,
                log);
        return new Writeback(context, files, limits, left, survivors);
    }

    MountContext context() {
        return context;
    }

    WrittenFiles files() {
        return files;
    }

    private static Recovery earlierRuns(Staging staging, @Nullable Outliving outliving) throws IOException {
        Survivors survivors = outliving == null ? null : outliving.left();
        try {
            return outliving == null || survivors == null
                    ? Recovery.of(staging)
                    : Recovery.of(staging, survivors, outliving.memory());
        } catch (IOException | RuntimeException e) {
            staging.close();
            throw e;
        }
    }

    private static @Nullable DataFolder stagingFiles(Path folder) throws IOException {
        try {
            return StagingFolder.open(folder);
        } catch (FolderLock.TakenException | WorkingFolder.ForeignException | ClosedByInterruptException e) {
            throw e;
        } catch (IOException e) {
            log.warn(
                    "The staging folder {} cannot be used: {}. Writing continues in memory; fsync waits until files are"
                            + " in the bucket.",
                    folder,
                    e.toString());
            return null;
        }
    }

    public WritebackConfig config() {
        return context.config();
    }

    /** Whether the staging folder could be read. If not, files of earlier runs are unknown. The log has the reason. */
    public boolean knowsEarlierRuns() {
        return context.staging().hasFolder();
    }

    /**
     * Files that earlier runs had closed or fsynced and not committed: their current content, without a handle. Their
     * uploads resume with {@link #start}.
     */
    public List<WrittenFile> recovered() {
        return recovered.stream().filter(file -> !file.isEnded()).toList();
    }

    /**
     * Files that the mount's former process was writing, or had not committed, with all that was written. Each has one
     * handle more than programs have, until {@link #start}. Not among {@link #recovered}.
     */
    public List<WrittenFile> survivors() {
        return survivors;
    }

    /**
     * How many bytes the mount's former process wrote for the request that this thread serves again: 0 if it was not
     * sent again.
     */
    public int writtenBefore() {
        KernelRequest resent = KernelRequest.resent();
        return left == null || resent == null ? 0 : left.written(resent.number());
    }

    /**
     * The last object that the mount's former process began to delete for the request that this thread serves
     * again: null if there was none, or the request was not sent again.
     */
    public @Nullable ObjectVersion deletedBefore() {
        KernelRequest resent = KernelRequest.resent();
        return left == null || resent == null ? null : left.deleted(resent.number());
    }

    /** Whether earlier runs have left something that will change the bucket. */
    public boolean hasEarlierChanges() {
        return !recovered.isEmpty() || !survivors.isEmpty() || !leftRemovals().isEmpty();
    }

    /** Objects of names that the mount's former process has removed, if it had not deleted them. */
    public Set<ObjectVersion> leftRemovals() {
        return left == null ? Set.of() : left.removals();
    }

    /** A name is shown as removed, and this object of it is deleted later: by the mount's next process if need be. */
    public void removing(ObjectVersion object) {
        SurvivorLog log = context.log();
        if (log != null) {
            log.removing(object);
        }
    }

    /** The request that this thread serves deletes this object. Returns it. */
    public ObjectVersion unlinking(ObjectVersion object) {
        SurvivorLog log = context.log();
        if (log != null) {
            log.unlinking(object);
        }
        return object;
    }

    /** The deletion of an object that was {@linkplain #removing to be deleted later} has ended. */
    public void removed(ObjectVersion object) {
        SurvivorLog log = context.log();
        if (log != null) {
            log.removed(object);
        }
    }

    /**
     * Ends those of {@link #recovered} whose names were about to be removed or replaced at the crash, if the store
     * shows that they were. Call before programs can see the files. May wait for the store. An interrupt ends it and
     * sets the flag again.
     */
    public void endSuperseded() {
        try {
            for (WrittenFile file : recovered) {
                file.endIfSuperseded();
            }
            for (WrittenFile file : survivors) {
                file.unlinkIfSuperseded();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The same as {@link #recovered}, for {@code penstock recover}. Files must not be started then. */
    public List<RecoverableFile> pending() {
        return pending;
    }

    /**
     * Files that earlier runs could not commit, for a reason that does not go away without help: for
     * {@code penstock recover}. Sorted by key, and older versions of a key first.
     */
    public List<RecoverableFile> failed() {
        return failed;
    }

    /**
     * Records durably which of {@link #failed} are older versions. Call before a later one is committed: the next run
     * would take the last remaining version for the newest.
     */
    public void recordOlder() throws IOException {
        for (RecoverableFile file : failed) {
            file.recordOlder();
        }
    }

    /**
     * Files that earlier runs wrote to other buckets, or to servers of other names. Not used; they stay where they are.
     */
    public List<StrandedFile> stranded() {
        return stranded;
    }

    /** Files of earlier runs that this version cannot read. Not used; they stay in the staging folder. */
    public List<UnreadableFile> unreadable() {
        return unreadable;
    }

    /** Continues with the files of {@link #recovered}. Nothing is committed before. Call once. */
    public void start(Listener listener) {
        files.listen(listener);
        try {
            recordOlder();
        } catch (IOException e) {
            log.warn(
                    "A later penstock recover --commit may upload older versions of files over these: {}",
                    e.getMessage());
        }
        recovered.forEach(WrittenFile::resume);
        survivors.forEach(WrittenFile::release);
        orphans.forEach(orphan -> context.uploads().abort(orphan.uploads(), orphan.aborted()));
    }

    /**
     * Uploads these of {@link #pending}, as {@link #start} would, and waits until each is committed or abandoned. The
     * others stay pending. Call once, instead of {@link #start}.
     */
    public void upload(Collection<RecoverableFile> meant, Listener listener) throws InterruptedException {
        files.listen(listener);
        Set<WrittenFile> uploaded = meant.stream().map(RecoverableFile::file).collect(Collectors.toSet());
        uploaded.forEach(WrittenFile::resume);
        files.drain(uploaded::contains);
    }

    /**
     * A new, empty file, whether or not an object has this key.
     *
     * @param replaced the object that it replaces (O_TRUNC): the commit is a conflict if it has changed. Null if there
     *     is none: the commit is a conflict if one exists by then
     */
    public WrittenFile create(String key, @Nullable ObjectVersion replaced) {
        return files.add(WrittenFile.create(context, files, key, replaced));
    }

    /** A file with the content of this version, for changes. */
    public WrittenFile open(ObjectVersion base) {
        return files.add(WrittenFile.open(context, files, base));
    }

    /**
     * Copies exactly this version to another key within the store. Leaves nothing in the bucket if this process ends
     * before the copy does: the next run aborts the upload that copies a large object.
     */
    public ObjectVersion copy(ObjectVersion source, String key, ObjectProperties properties, WriteCondition condition)
            throws ObjectStoreException, InterruptedException {
        return copying(source, key, listener -> context.store().copy(source, key, properties, condition, listener));
    }

    /** {@link #copy} with the source's properties, to a key without an object: {@link ObjectStore#duplicate}. */
    public ObjectVersion duplicate(StoredObject source, String key) throws ObjectStoreException, InterruptedException {
        return copying(source.version(), key, listener -> context.store().duplicate(source, key, listener));
    }

    /** A copy made by the store. */
    private interface Copying {
        ObjectVersion copy(UploadListener listener) throws ObjectStoreException, InterruptedException;
    }

    private ObjectVersion copying(ObjectVersion source, String key, Copying copying)
            throws ObjectStoreException, InterruptedException {
        Staging staging = context.staging();
        StagedFile noted = new StagedFile(staging);
        FileJournal journal =
                new FileJournal(noted, () -> new JournalRecord.Opened(staging.namespace(), key, null, null, false));
        try {
            return copying.copy(journal.copying(
                    PartLayout.planned(source.size(), limits.get().partBytes())));
        } finally {
            noted.remove(); // but the journal stays as long as the upload
        }
    }

    /**
     * Begins the rename of a directory, and records it for the next mount.
     *
     * @param from the old prefix; ends in a slash
     * @param to the new one
     * @throws IOException if the staging folder cannot be written
     */
    public RenameJournal beginRename(String from, String to) throws IOException {
        return RenameJournal.begin(context.staging(), from, to);
    }

    /** Renames of directories that earlier runs did not end. End them before {@link #start}. */
    public List<RenameJournal> leftRenames() {
        return RenameJournal.left(context.staging());
    }

    public WritebackLimits limits() {
        return limits;
    }

    public WritebackStatistics statistics() {
        List<Long> backlog = files.all().stream()
                .map(WrittenFile::backlogBytes)
                .filter(bytes -> bytes >= 0)
                .toList();
        return new WritebackStatistics(
                context.resources().memory().usedBytes(),
                context.staging().usedBytes(),
                backlog.size(),
                backlog.stream().mapToLong(bytes -> bytes).sum(),
                context.uploads().uploadedBytes(),
                context.uploads().copiedBytes(),
                failed.size() + unreadable.size() + files.failed());
    }

    /** The progress of the uncommitted file with this key; null if there is none. */
    public @Nullable Uncommitted uncommitted(String key) {
        return files.all().stream()
                .filter(file -> file.key().equals(key))
                .map(WrittenFile::uncommitted)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** The changes that programs have closed or fsynced and that the store does not have yet. */
    public List<AwaitedFile> awaited() {
        return files.all().stream()
                .map(WrittenFile::awaited)
                .flatMap(Stream::ofNullable)
                .toList();
    }

    /** Waits until nothing is left to upload except files that failed permanently. */
    public void drain() throws InterruptedException {
        files.drain(_ -> true);
    }

    /**
     * Makes uncommitted content durable in staging while commits continue. For a process that was asked to end and may
     * be killed at any time. An interrupt ends it and sets the flag again.
     */
    public void stage() {
        var _ = files.stage();
    }

    /**
     * Ends the commits and leaves the rest to the next {@link #open}: makes content durable in staging if it is not,
     * without waiting for commits of other files. An interrupt ends that and sets the flag again. Several threads may
     * call it; {@link #close} follows.
     *
     * @return the keys of files for which that was impossible: their writes since the last commit or fsync are lost
     */
    public List<String> leave() {
        context.background().cancel();
        return files.stage();
    }

    /** Ends the requests in flight. The next {@link #open} finds the files that are staged and closed or fsynced. */
    @Override
    public void close() {
        SurvivorLog log = context.log();
        if (log != null) {
            log.close(); // the mount may continue in another process
        }
        context.background().close();
        context.reclaim().close();
        files.stop();
        failed.forEach(RecoverableFile::close);
        context.uploads().close();
        context.staging().close();
    }
}

package io.penstock.serve.mount;

import io.penstock.cache.CacheConfig;
import io.penstock.cache.CacheStatistics;
import io.penstock.cache.PageCache;
import io.penstock.cache.disk.CacheFolder;
import io.penstock.filesystem.FileSystem;
import io.penstock.filesystem.files.FetchedContent;
import io.penstock.filesystem.names.RunningRename;
import io.penstock.filesystem.names.Writing;
import io.penstock.fuse.Binding;
import io.penstock.fuse.InheritedDevice;
import io.penstock.fuse.Mount;
import io.penstock.fuse.MountException;
import io.penstock.fuse.Preflight;
import io.penstock.fuse.Supervisor;
import io.penstock.fuse.calls.CallLatencies;
import io.penstock.fuse.calls.CallObserver;
import io.penstock.fuse.calls.CallStatistics;
import io.penstock.fuse.kernel.KernelBinding;
import io.penstock.inventory.IndexException;
import io.penstock.metadata.ObjectIndex;
import io.penstock.metadata.PreloadState;
import io.penstock.metadata.Tree;
import io.penstock.metadata.attributes.AttributesSnapshot;
import io.penstock.metadata.attributes.DirectoryMarkers;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.metadata.attributes.MarkingObjectStore;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.s3.RequestStatistics;
import io.penstock.objectstore.s3.S3ObjectStore;
import io.penstock.prefetch.Completion;
import io.penstock.prefetch.PageFetcher;
import io.penstock.prefetch.ReadaheadStatistics;
import io.penstock.serve.control.ShareStatus;
import io.penstock.serve.log.AccessLog;
import io.penstock.settings.process.StartTimes;
import io.penstock.writeback.AwaitedFile;
import io.penstock.writeback.RecoverableFile;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WritebackStatistics;
import io.penstock.writeback.WrittenFile;
import io.penstock.writeback.survivors.Outliving;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A mounted bucket. Assembles the modules, and closes them in reverse order. */
public final class BucketMount implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(BucketMount.class);

    /** The pause between two attempts to reach the store of a mount that is continued. */
    private static final Duration STORE_RETRY = Duration.ofSeconds(1);

    private final S3ObjectStore store;
    private final MountedModules modules;
    private final Jobs jobs;
    private final Binding.Taken taken;
    private final CallLatencies calls;
    /** Null, like the backlog, if the mount is read-only. */
    private final @Nullable Writeback writeback;

    private final @Nullable UploadsAtExit backlog;

    /** Closes each opened module, the last one first. Confined to the thread that opens and closes. */
    private final Deque<Runnable> closers;

    private BucketMount(
            S3ObjectStore store,
            MountedModules modules,
            Jobs jobs,
            Binding.Taken taken,
            CallLatencies calls,
            @Nullable UploadsAtExit backlog,
            Deque<Runnable> closers) {
        this.store = store;
        this.modules = modules;
        this.jobs = jobs;
        this.taken = taken;
        this.calls = calls;
        this.writeback = modules.writeback();
        this.backlog = backlog;
        this.closers = closers;
    }

    /**
     * Mounts. Everything that can be refused is refused before the kernel is involved, and then nothing is left open.
     *
     * @param access receives each call; null for none
     * @param tables see {@link KernelBinding#mount}
     * @param connected the store, if {@link #connect} was called before; closed with the mount
     * @throws IOException if the cache folder cannot be used
     * @throws IndexException if the index cannot be used
     */
    public static BucketMount open(
            MountPlan plan,
            StartTimes times,
            @Nullable AccessLog access,
            @Nullable Path tables,
            @Nullable S3ObjectStore connected)
            throws MountException, IOException, ObjectStoreException, InterruptedException {
        Preflight.check(plan.mount());
        ObjectIndex index = plan.index() == null ? null : FoundIndex.open(plan.index(), plan.target());
        Deque<Runnable> closers = new ArrayDeque<>();
        try {
            S3ObjectStore store = connected == null ? connect(plan) : connected;
            closers.push(store::close);
            times.done("bucket");
            PageCache cache = PageCache.open(cacheConfig(plan));
            closers.push(cache::close);
            times.done("cache");
            Tree tree = new Tree(store, plan.target().prefix(), plan.metadata(), System::nanoTime);
            closers.push(tree::close);
            if (index != null) {
                tree.index(index); // before files that a crash left behind are committed
            }
            PageFetcher fetcher = new PageFetcher(
                    store,
                    cache,
                    plan.namespace(),
                    plan.readahead(),
                    PageFetcher.LINGER,
                    key -> ListedFiles.around(tree, key));
            closers.push(fetcher::close);
            fetcher.setCompletion(new Completion(fetcher)::add);
            Jobs jobs = new Jobs();
            DirectoryMarkers markers = new DirectoryMarkers(store, tree, System::nanoTime);
            KeptAttributes kept = new KeptAttributes(
                    store,
                    markers,
                    plan.attributes(),
                    new AttributesSnapshot(
                            CacheFolder.attributes(plan.cache().directory()), plan.owner() + " " + plan.attributes()));
            kept.load();
            closers.push(kept::close);
            ObjectStore marking = kept.areKept() ? new MarkingObjectStore(store, markers) : store;
            kept.expect(tree.root());
            Outliving outliving = tables == null || plan.mount().readOnly() ? null : EarlierProcesses.outliving();
            Integer memory = outliving == null ? null : outliving.memory().descriptor();
            Writeback writeback = null;
            UploadsAtExit backlog = null;
            if (!plan.mount().readOnly()) {
                writeback = openWriteback(plan, marking, cache, fetcher, outliving);
                closers.push(writeback::close);
                if (writeback.hasEarlierChanges()) {
                    tree.beginChange();
                }
                backlog = new UploadsAtExit(writeback);
            }
            Writing writing = writeback == null
                    ? null
                    : new Writing(
                            marking,
                            writeback,
                            plan.exclusive(),
                            plan.links(),
                            InstantSource.system(),
                            System::nanoTime,
                            plan.mostRenamed(),
                            Supervisor.current().inheritedDevice().isPresent());
            FileSystem files = new FileSystem(tree, fetcher, kept, plan.files(), Instant.now(), writing);
            closers.push(files::close); // if the mount is refused
            CallLatencies calls = new CallLatencies();
            CallObserver observer = access == null ? calls : calls.and(access.observer(files::pathOf));
            Binding.Taken taken = plan.binding()
                    .mount(
                            () -> KernelBinding.mount(files, plan.mount(), observer, tables, memory),
                            () -> LibFuse.binding().mount(files, plan.mount(), observer));
            UploadsAtExit awaited = backlog;
            closers.push(() -> end(taken.mount(), files, awaited));
            SharePlan share = plan.share();
            Sharing sharing = share == null ? null : new Sharing(plan, share, store, fetcher);
            if (sharing != null) {
                closers.push(sharing::close);
            }
            closers.push(jobs::close); // before waiting for the backlog, which may take hours
            closers.push(tree::endPreload);
            times.done("mount");
            tree.preload();
            SymbolicLinks links =
                    new SymbolicLinks(kept, tree.root(), taken.mount().mountPoint());
            MountedModules modules =
                    new MountedModules(tree, cache, fetcher, files, links, plan.namespace(), writeback, sharing);
            return new BucketMount(store, modules, jobs, taken, calls, backlog, closers);
        } catch (Throwable e) {
            close(closers);
            throw e;
        }
    }

    /** A process that continues a mount waits for its store, and programs with it: they must not lose the mount. */
    static S3ObjectStore connect(MountPlan plan) throws ObjectStoreException, MountException, InterruptedException {
        Path device = Supervisor.current().inheritedDevice().orElse(null);
        while (true) {
            try {
                if (device != null) {
                    Path _ = InheritedDevice.resolve(device); // it may be unmounted meanwhile
                }
                return S3ObjectStore.connect(plan.s3(), plan.target().prefix());
            } catch (ObjectStoreException e) {
                if (device == null) {
                    throw e;
                }
                log.warn("The mount continues once the store responds: {}", e.getMessage());
                Thread.sleep(STORE_RETRY);
            }
        }
    }

    /** Waits for staged files only after a mount: a refused mount leaves them to the next one. */
    private static void end(Mount mount, FileSystem files, @Nullable UploadsAtExit backlog) {
        mount.close();
        files.close(); // it adds to the backlog
        if (backlog != null) {
            backlog.await();
        }
    }

    /** Adds the user's identity in the store if the cache is private to that user. */
    public static CacheConfig cacheConfig(MountPlan plan) throws ObjectStoreException {
        return plan.cacheIsPrivate()
                ? plan.cache().withAudience(new CacheFolder.Audience.Only(S3ObjectStore.identity(plan.s3())))
                : plan.cache();
    }

    /**
     * Opens the write path of the bucket.
     *
     * @param outliving null if written files end with this process
     */
    public static Writeback openWriteback(
            MountPlan plan, ObjectStore store, PageCache cache, PageFetcher fetcher, @Nullable Outliving outliving)
            throws IOException {
        return Writeback.open(store, cache, plan.namespace(), new FetchedContent(fetcher), plan.writeback(), outliving);
    }

    /**
     * Applies the limits of another plan; limits that cannot change while mounted stay as they are.
     *
     * @param shareBandwidth the value of share.bandwidth, which the other plan lacks if it does not share
     */
    void adjust(MountPlan next, long shareBandwidth) {
        modules.cache().adjust(next.cache());
        modules.fetcher().adjust(next.readahead());
        modules.tree().adjust(next.metadata());
        taken.mount().limitCaching(next.mount().attributeTimeout());
        if (writeback != null) {
            writeback.limits().set(next.writeback().limits());
        }
        if (modules.sharing() != null) {
            modules.sharing().limit(shareBandwidth);
        }
    }

    MountedModules modules() {
        return modules;
    }

    Jobs jobs() {
        return jobs;
    }

    /** Null if the mount is read-only. */
    @Nullable
    UploadsAtExit backlog() {
        return backlog;
    }

    /** The keys of files that an earlier mount did not finish uploading; this mount continues with them. */
    List<String> recovered() {
        return writeback == null
                ? List.of()
                : writeback.recovered().stream().map(WrittenFile::key).toList();
    }

    /** The total size of the readable files that earlier mounts could not upload, in bytes. */
    long keptBytes() {
        return writeback == null
                ? 0
                : writeback.failed().stream().mapToLong(RecoverableFile::size).sum();
    }

    /** The number of files in the staging folder that belong to other buckets or to servers with other names. */
    int stranded() {
        return writeback == null ? 0 : writeback.stranded().size();
    }

    /** Files that have been closed or fsynced and are not in the bucket. */
    List<AwaitedFile> awaited() {
        return writeback == null ? List.of() : writeback.awaited();
    }

    /** The number of written files that wait for penstock recover. */
    int failed() {
        return writeback == null ? 0 : writeback.statistics().failedFiles();
    }

    public Mount mount() {
        return taken.mount();
    }

    /** The binding that serves the mount, and the reason. */
    public String binding() {
        return taken.choice();
    }

    /** The progress of the listing of the whole bucket. */
    public PreloadState names() {
        return modules.tree().preloaded();
    }

    /** Directory renames in progress. */
    List<RunningRename> renames() {
        return modules.files().runningRenames();
    }

    /** Why nothing is cached, and the remedy; empty if data is cached. */
    String cacheFault() {
        return modules.cache().keepsNothing()
                ? "less space is free on the cache disk than cache.min-free; free space, lower"
                        + " cache.min-free, or set cache.dir to a folder on another disk"
                : "";
    }

    /** Whether no object was found below the prefix. */
    boolean foundNothing() {
        return store.foundNothing();
    }

    public CacheStatistics cacheStatistics() {
        return modules.cache().statistics();
    }

    /** The bytes of the cache that are never evicted. */
    public long pinnedBytes() {
        return modules.cache().pins().room().pinned();
    }

    public ReadaheadStatistics readaheadStatistics() {
        return modules.fetcher().statistics();
    }

    public RequestStatistics requestStatistics() {
        return store.statistics();
    }

    public long requestsInFlight() {
        return store.requestsInFlight();
    }

    /** Null if the mount shares nothing. */
    public @Nullable ShareStatus shareStatus() {
        return modules.sharing() == null ? null : modules.sharing().status();
    }

    /** Statistics of the kernel's calls, by name. */
    public Map<String, CallStatistics> callStatistics() {
        return calls.snapshot();
    }

    /**
     * Statistics of writes.
     *
     * @throws IllegalStateException if the mount is read-only
     */
    public WritebackStatistics writebackStatistics() {
        if (writeback == null) {
            throw new IllegalStateException("mounted read-only");
        }
        return writeback.statistics();
    }

    /** Unmounts if still mounted, even if busy, and waits for the backlog. May be called again. */
    @Override
    public void close() {
        close(closers);
    }

    private static void close(Deque<Runnable> closers) {
        while (!closers.isEmpty()) {
            closers.pop().run();
        }
    }
}

package io.penstock.prefetch;

import io.penstock.cache.CachedObject;
import io.penstock.cache.Fill;
import io.penstock.cache.PageCache;
import io.penstock.cache.PageState;
import io.penstock.cache.Residency;
import io.penstock.cache.Urgency;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches Missing pages from the object store. Everything that begins a GET is here, and shares the gates and the
 * threads. Safe for use by any number of threads.
 */
public final class PageFetcher implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PageFetcher.class);

    /**
     * How long a version stays open after its last reader has closed. Programs that open the file again for each sample
     * in it, such as MosaicML's StreamingDataset, then keep the streams and GETs of the previous reader.
     */
    public static final Duration LINGER = Duration.ofSeconds(1);

    /** How long a store may take to react to an interrupt, although it promises to do so immediately. */
    private static final long CLOSE_SECONDS = 10;

    /** The rest of a file is fetched if at most one part in this many is missing: a later read would need it. */
    private static final int MOST_MISSING_SHARE = 8;

    private final ObjectStore store;
    private volatile PeerSource peers = PeerSource.NONE;
    private final PageCache cache;
    private final String namespace;
    private volatile ReadaheadConfig limits;
    private final FetchGate gate;

    /**
     * For the GETs for other nodes. They do not share a gate with this node's readers, which may wait for another node:
     * two nodes could wait for each other.
     */
    private final FetchGate peerGate;

    private final FetchCounters counters = new FetchCounters();
    private final RunningStreams running;
    private final DirectoryStreams directories;
    private final SiblingShapes siblings = new SiblingShapes();

    /** One thread per fetch, so that an interrupt cancels just that fetch. */
    private final ExecutorService fetchThreads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("fetch-", 0).factory());

    private final OpenVersionTable objects;
    private volatile Consumer<ObjectVersion> completion = version -> {};

    /**
     * @param store the source of the pages; the caller closes it, after this
     * @param cache their destination; the caller closes it, after this
     * @param namespace distinguishes this bucket's keys in the cache: endpoint and bucket
     * @param linger how long a version stays open after its last reader has closed; see {@link #LINGER}
     * @param listed knows the small files of a directory: those that will be read are fetched ahead
     */
    public PageFetcher(
            ObjectStore store,
            PageCache cache,
            String namespace,
            ReadaheadConfig config,
            Duration linger,
            DirectoryFiles.Source listed) {
        this.store = store;
        this.cache = cache;
        this.namespace = namespace;
        this.limits = config;
        this.gate = new FetchGate(() -> limits.concurrency());
        this.peerGate = new FetchGate(() -> limits.concurrency());
        this.objects = new OpenVersionTable(linger, this::openVersion, this::start);
        // The other half is for pages that are being read, and for pages in flight to the disk.
        this.running = new RunningStreams(() -> cache.memoryBytes() / 2, System::nanoTime);
        // Files fetched ahead must stay cached until they are read, and must not displace those read earlier.
        this.directories =
                new DirectoryStreams(listed, () -> limits, () -> cache.roomBytes() / 2, counters.readaheadUsed);
    }

    /** A fetcher that closes versions with their last reader, and that knows no directories. */
    public PageFetcher(ObjectStore store, PageCache cache, String namespace, ReadaheadConfig config) {
        this(store, cache, namespace, config, Duration.ZERO, key -> null);
    }

    /**
     * A reader of this version, which shares detected streams with the version's other readers. Fetches nothing yet.
     * Must be closed.
     */
    public ObjectReader open(ObjectVersion version) {
        OpenVersion object = share(version);
        if (isSmall(version) && version.size() > 0 && limits.maxWindowBytes() > 0) {
            DirectoryStream stream = directories.opened(version, object.cached.state(0) == PageState.MISSING);
            if (stream != null) {
                readAhead(stream);
            }
        }
        return new ObjectReader(this, object, () -> limits);
    }

    /**
     * Reads of this version for another node of the cache group: Missing pages come from the store only, and nothing is
     * read ahead. Must be closed.
     */
    public PeerReader openForPeer(ObjectVersion version) {
        return new PeerReader(this, share(version));
    }

    /** Requests bytes from these peers before the store from now on. */
    public void setPeers(PeerSource peers) {
        this.peers = peers;
    }

    private boolean isSmall(ObjectVersion version) {
        return version.size() <= limits.smallFileBytes();
    }

    private OpenVersion openVersion(ObjectVersion version) {
        CachedObject pages = cache.open(namespace, version);
        return new OpenVersion(
                pages,
                isSmall(version) ? null : cache.openSectors(pages),
                new Streams(() -> limits, version.size(), counters.readaheadUsed, running));
    }

    /** The version with one more reader, which must {@linkplain #closed close}. */
    OpenVersion share(ObjectVersion version) {
        return objects.share(version);
    }

    /** A reader of this object has closed. */
    void closed(OpenVersion object) {
        objects.closed(object);
    }

    /** A reader of a file that may be passed through to the kernel has closed: fetches the rest if it is little. */
    void closedToComplete(OpenVersion object) {
        long pages = OpenVersion.pages(object.cached.version().size());
        long most = Math.min(
                pages / MOST_MISSING_SHARE, cache.roomBytes() / PageCache.PAGE_SIZE); // nothing is evicted for it
        boolean completes = !object.cached.isWhole() && object.missingPages(most) <= most;
        closed(object);
        if (completes) {
            completion.accept(object.cached.version());
        }
    }

    /** Sets what completes such files: {@link Completion#add}. */
    public void setCompletion(Consumer<ObjectVersion> completion) {
        this.completion = completion;
    }

    /** Changes the limits. Running GETs that exceed them end normally. */
    public void adjust(ReadaheadConfig config) {
        limits = config;
        gate.limitChanged();
        peerGate.limitChanged();
    }

    SiblingShapes siblings() {
        return siblings;
    }

    public ReadaheadStatistics statistics() {
        return counters.snapshot();
    }

    /** A reader has waited this long for memory and for GET slots. */
    void readerWaited(long memoryNanos, long slotNanos) {
        counters.memoryNanos.add(memoryNanos);
        counters.slotNanos.add(slotNanos);
    }

    /** The number of GETs that have a slot now. */
    int running() {
        return gate.running();
    }

    /** The number of GETs for demand that wait for a slot. */
    int waiting() {
        return gate.waiting();
    }

    /** The number of open object versions. */
    int openObjects() {
        return objects.count();
    }

    /** The deadline of a read that begins to wait for the store now: its call's, or a new one. */
    Deadline deadline() {
        Deadline outer = Deadline.current();
        return outer == null ? store.retries().forReading() : outer;
    }

    /** Starts the GET of a claim that a reader, which has the object open, awaits until the deadline. */
    RangeFetch fetch(OpenVersion object, Fill fill, Deadline deadline) {
        RangeFetch fetch =
                new RangeFetch(peers, store, object.cached.version(), fill, Urgency.DEMAND, deadline, counters);
        start(object, fetch, gate, () -> {});
        return fetch;
    }

    FetchGate peerGate() {
        return peerGate;
    }

    /** Starts the GET of a claim that another node awaits. The peers' gate has already admitted readahead. */
    RangeFetch fetchForPeer(OpenVersion object, Fill fill, Urgency urgency) {
        RangeFetch fetch =
                new RangeFetch(PeerSource.NONE, store, object.cached.version(), fill, urgency, deadline(), counters);
        start(object, fetch, peerGate, () -> {});
        return fetch;
    }

    /**
     * Runs the fetch on another thread; after {@link #close} the fetch is abandoned.
     *
     * @param within the gate, which has already admitted the fetch if it is readahead
     * @param done runs at the fetch's end
     */
    private void start(OpenVersion object, RangeFetch fetch, FetchGate within, Runnable done) {
        object.retain();
        boolean started = start(() -> {
            try {
                object.run(fetch, within);
            } finally {
                object.release();
                done.run();
            }
        });
        if (!started) {
            fetch.abandon();
            if (fetch.urgency() == Urgency.READAHEAD) {
                within.release(Urgency.READAHEAD);
            }
            object.release();
            done.run();
        }
    }

    /** Starts the stream's readahead soon, without waiting. */
    void readAhead(OpenVersion object, Stream stream) {
        gate.enqueue(() -> start(() -> runInFile(object, stream)));
    }

    private void readAhead(DirectoryStream stream) {
        gate.enqueue(() -> start(() -> runInDirectory(stream)));
    }

    /** The gate has admitted a GET; this method or the fetch releases the slot. */
    private void runInFile(OpenVersion object, Stream stream) {
        if (!object.retain()) {
            gate.release(Urgency.READAHEAD);
            return;
        }
        try {
            Fill fill = claim(() -> object.claimReadahead(stream));
            if (fill != null) {
                object.history.fetchedAhead(FetchedAhead.STREAM);
                readAhead(object, stream); // its next range, after those of the streams in the queue
                RangeFetch _ = run(object, fill);
            }
        } finally {
            object.release();
        }
    }

    /** Fetches the directory's next file that is not cached, in a slot that the gate has granted. */
    private void runInDirectory(DirectoryStream stream) {
        DirectoryStream.Next file = stream.next();
        if (file == null) {
            gate.release(Urgency.READAHEAD);
            return;
        }
        OpenVersion object = share(file.version());
        try {
            long pages = OpenVersion.pages(file.version().size());
            Fill fill = claim(() -> object.cached.claim(0, pages, file.urgency()));
            if (fill != null) {
                object.history.fetchedAhead(file.why());
                readAhead(stream);
                Exception failure = run(object, fill).failure(fill.range().offset());
                if (failure != null && isOfThisFile(failure)) {
                    stream.had(file);
                } else if (failure != null) {
                    stream.failed(file);
                }
            } else if (object.anyMissing(0, pages)) {
                stream.pause(file);
            } else {
                stream.had(file);
                readAhead(stream);
            }
        } finally {
            closed(object);
        }
    }

    /** Whether the fetched file was changed or deleted, which says nothing about other files of its directory. */
    private static boolean isOfThisFile(Exception failure) {
        return failure.getCause() instanceof ObjectStoreException.NotFound
                || failure.getCause() instanceof ObjectStoreException.PreconditionFailed;
    }

    interface Claim {
        @Nullable
        Fill make() throws InterruptedException;
    }

    /** Makes a claim for which the gate has granted a slot; null, and the slot is released, if nothing is claimed. */
    @Nullable
    Fill claim(Claim claim) {
        Fill fill = null;
        try {
            fill = claim.make();
        } catch (InterruptedException e) { // only close() interrupts a thread that has no fetch yet
            Thread.currentThread().interrupt();
        } finally {
            if (fill == null) {
                gate.release(Urgency.READAHEAD);
            }
        }
        return fill;
    }

    private RangeFetch run(OpenVersion object, Fill fill) {
        counters.readaheadBytes.add(fill.range().length());
        RangeFetch fetch = ahead(object, fill);
        object.run(fetch, gate);
        return fetch;
    }

    /** Never waits for the store or the disk: it opens nothing, so it need not close a file. */
    public ReadState readState(ObjectVersion version) {
        OpenVersionTable.Known known = objects.find(version);
        OpenVersion open = known.object();
        return new ReadState(
                known.readers(),
                open == null ? 0 : open.streams.runningCount(),
                open == null ? cache.readShape(namespace, version) : open.cached.readShape(),
                rangeBytes(version),
                known.history().snapshot());
    }

    /** Where the bytes of the version are. Never waits for the store or the disk. */
    public Residency residency(ObjectVersion version) {
        return cache.residency(namespace, version);
    }

    /** Whether the version is pinned, and so not evicted. */
    public boolean isPinned(ObjectVersion version) {
        return cache.pins().isPinned(namespace, version);
    }

    /** Where the pages come from. */
    public ObjectStore store() {
        return store;
    }

    PageCache cache() {
        return cache;
    }

    String namespace() {
        return namespace;
    }

    /** The most bytes of the version that one GET requests. */
    long rangeBytes(ObjectVersion version) {
        long most = limits.rangeSizeBytes();
        return isSmall(version) ? Math.max(version.size(), most) : most;
    }

    /** Waits until the gate admits a GET, after all that readers wait for. {@link #claim} must follow. */
    void awaitSlot() throws InterruptedException {
        gate.acquireReadahead();
    }

    /**
     * Fetches a claim that the gate has admitted, on another thread.
     *
     * @param object which the caller keeps shared until the fetch is done
     * @param done receives the exception of the store or of a cancelled fetch; null if there is none
     */
    void fetchAhead(OpenVersion object, Fill fill, Consumer<@Nullable Exception> done) {
        RangeFetch fetch = ahead(object, fill);
        start(object, fetch, gate, () -> {
            Exception failure = fetch.failure(fill.range().offset());
            done.accept(failure != null && failure.getCause() instanceof Exception cause ? cause : failure);
        });
    }

    private RangeFetch ahead(OpenVersion object, Fill fill) {
        Deadline deadline = store.retries().forReading();
        return new RangeFetch(peers, store, object.cached.version(), fill, Urgency.READAHEAD, deadline, counters);
    }

    /** False after {@link #close}. */
    boolean start(Runnable task) {
        try {
            fetchThreads.execute(task);
            return true;
        } catch (RejectedExecutionException closed) {
            return false;
        }
    }

    /** Cancels the running fetches and waits for their end. Open readers can still read cached pages. */
    @Override
    public void close() {
        fetchThreads.shutdownNow();
        objects.close();
        try {
            if (!fetchThreads.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("GETs from {} did not end within {} s of being cancelled", namespace, CLOSE_SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

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
 * Fetches Missing pages from the object store. All that begins a GET is here, as it shares the gates and the threads: hence its
 * length. Safe for use by any number of threads.
 */
public final class PageFetcher implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PageFetcher.class);

    /**
     * How long a version stays open after its last reader has closed. Programs that open a file for each sample in it
     * (MosaicML's StreamingDataset does) go on with the streams and GETs of the reader before.
     */
    public static final Duration LINGER = Duration.ofSeconds(1);

    /** How long a store may take to react to an interrupt: it promises to do so at once. */
    private static final long CLOSE_SECONDS = 10;

    /** One part in so many of a file may be missing for the rest to be fetched: a later read would have to fetch it too. */
    private static final int MOST_MISSING_SHARE = 8;

    private final ObjectStore store;
    private volatile PeerSource peers = PeerSource.NONE;
    private final PageCache cache;
    private final String namespace;
    private volatile ReadaheadConfig limits;
    private final FetchGate gate;

    /**
     * Of the GETs for other nodes. They are apart from those of this node's readers, which may wait for another node: two nodes
     * would wait for each other.
     */
    private final FetchGate peerGate;

    private final FetchCounters counters = new FetchCounters();
    private final RunningStreams running;
    private final DirectoryStreams directories;
    private final SiblingShapes siblings = new SiblingShapes();

    /** One thread for each fetch, so that an interrupt cancels just that fetch. */
    private final ExecutorService fetchThreads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("fetch-", 0).factory());

    private final OpenVersionTable objects;
    private volatile Consumer<ObjectVersion> completion = version -> {};

    /**
     * @param store the source of the pages; the caller closes it, after this
     * @param cache their destination; the caller closes it, after this
     * @param namespace distinguishes this bucket's keys in the cache: endpoint and bucket
     * @param linger how long a version stays open after its last reader has closed; see {@link #LINGER}
     * @param listed knows which small files a directory has: those that will be read are fetched ahead
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
        // The other half is for pages that are being read, and pages on their way to the disk.
        this.running = new RunningStreams(() -> cache.memoryBytes() / 2, System::nanoTime);
        // Files fetched ahead must still be there when they are read, and not in place of those read before.
        this.directories =
                new DirectoryStreams(listed, () -> limits, () -> cache.roomBytes() / 2, counters.readaheadUsed);
    }

    /** A fetcher whose versions close with their last reader, and which knows of no directories. */
    public PageFetcher(ObjectStore store, PageCache cache, String namespace, ReadaheadConfig config) {
        this(store, cache, namespace, config, Duration.ZERO, key -> null);
    }

    /**
     * A reader of this version, which shares detected streams with its other readers. Fetches nothing yet. Must be
     * closed.
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
     * Reads of this version for another node of the cache group: Missing pages come from the store alone, and nothing
     * is read ahead. Must be closed.
     */
    public PeerReader openForPeer(ObjectVersion version) {
        return new PeerReader(this, share(version));
    }

    /** From now on asks these before the store. */
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

    /** The version with one reader more, which must {@linkplain #closed close}. */
    OpenVersion share(ObjectVersion version) {
        return objects.share(version);
    }

    /** A reader of this object has closed. */
    void closed(OpenVersion object) {
        objects.closed(object);
    }

    /** A reader of a file that may be passed through to the kernel has closed: if little of it is missing, that is fetched. */
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

    /** Has this complete such files: {@link Completion#add}. */
    public void setCompletion(Consumer<ObjectVersion> completion) {
        this.completion = completion;
    }

    /** Has other limits from now on. GETs that run and exceed them end by themselves. */
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

    /** A reader has waited so many nanoseconds for what limits fetches. */
    void readerWaited(long memoryNanos, long turnNanos) {
        counters.memoryNanos.add(memoryNanos);
        counters.turnNanos.add(turnNanos);
    }

    /** The number of GETs that run now or wait for the store. */
    int running() {
        return gate.running();
    }

    /** The number of GETs that readers wait for, and that wait for their turn. */
    int waiting() {
        return gate.waiting();
    }

    /** The number of open object versions. */
    int openObjects() {
        return objects.count();
    }

    /** The deadline of a read that begins to wait for the store now: that of its call, or a new one. */
    Deadline deadline() {
        Deadline outer = Deadline.current();
        return outer == null ? store.retries().forReading() : outer;
    }

    /** Starts the GET of a claim for which a reader that has the object open waits until the deadline. */
    RangeFetch fetch(OpenVersion object, Fill fill, Deadline deadline) {
        RangeFetch fetch =
                new RangeFetch(peers, store, object.cached.version(), fill, Urgency.DEMAND, deadline, counters);
        start(object, fetch, gate, () -> {});
        return fetch;
    }

    FetchGate peerGate() {
        return peerGate;
    }

    /** Starts the GET of a claim that another node waits for. For readahead the peers' gate has admitted it. */
    RangeFetch fetchForPeer(OpenVersion object, Fill fill, Urgency urgency) {
        RangeFetch fetch =
                new RangeFetch(PeerSource.NONE, store, object.cached.version(), fill, urgency, deadline(), counters);
        start(object, fetch, peerGate, () -> {});
        return fetch;
    }

    /**
     * Runs it on another thread; after {@link #close} it is abandoned.
     *
     * @param within has admitted it, if it is readahead
     * @param done runs at its end
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

    /** The gate has admitted a GET, which is given back here or by the fetch. */
    private void runInFile(OpenVersion object, Stream stream) {
        if (!object.retain()) {
            gate.release(Urgency.READAHEAD);
            return;
        }
        try {
            Fill fill = claim(() -> object.claimReadahead(stream));
            if (fill != null) {
                object.history.fetchedAhead(FetchedAhead.STREAM);
                readAhead(object, stream); // its next range, after those of the streams that wait
                RangeFetch _ = run(object, fill);
            }
        } finally {
            object.release();
        }
    }

    /** Fetches the next file of the directory that the cache has not, with a GET that the gate has admitted. */
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

    /** Whether a file that was fetched ahead was changed or deleted, which says nothing about the others of its directory. */
    private static boolean isOfThisFile(Exception failure) {
        return failure.getCause() instanceof ObjectStoreException.NotFound
                || failure.getCause() instanceof ObjectStoreException.PreconditionFailed;
    }

    interface Claim {
        @Nullable
        Fill make() throws InterruptedException;
    }

    /** The claim of one that the gate has admitted; null if it claims nothing, and then the GET is given back. */
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

    /** Never waits for the store or the disk: it opens nothing, and so closes no file. */
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

    /** Whether the version is kept from eviction. */
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

    /** How much of the version one GET is for: at most, in bytes. */
    long rangeBytes(ObjectVersion version) {
        long most = limits.rangeSizeBytes();
        return isSmall(version) ? Math.max(version.size(), most) : most;
    }

    /** Waits until the gate admits a GET, which comes after all that readers wait for. {@link #claim} must follow. */
    void awaitTurn() throws InterruptedException {
        gate.acquireReadahead();
    }

    /**
     * Fetches a claim that the gate has admitted, on another thread.
     *
     * @param object shared by the caller until it is done
     * @param done gets the store's exception, or that of a fetch that was cancelled; null if there is none
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

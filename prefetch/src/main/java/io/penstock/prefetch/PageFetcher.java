package io.penstock.prefetch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.cache.Fill;
import io.penstock.cache.PageCache;
import io.penstock.cache.PageState;
import io.penstock.cache.Urgency;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Fetches Missing pages from the object store. Safe for use by any number of threads. */
public final class PageFetcher implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PageFetcher.class);

    /**
     * How long a version stays open after its last reader has closed. Programs that open a file for each sample in it
     * (MosaicML's StreamingDataset does) go on with the streams and GETs of the reader before.
     */
    public static final Duration LINGER = Duration.ofSeconds(1);

    /** Some KiB of heap each. */
    private static final int MOST_LINGERING = 1_000;

    /** How long a store may take to react to an interrupt: it promises to do so at once. */
    private static final long CLOSE_SECONDS = 10;

    private final ObjectStore store;
    private volatile PeerSource peers = PeerSource.NONE;
    private final PageCache cache;
    private final String namespace;
    private final ReadaheadLimits limits;
    private final FetchGate<Readahead> gate;
    private final PeerGate peerGate;
    private final FetchCounters counters = new FetchCounters();
    private final RunningStreams running;
    private final DirectoryStreams directories;
    private final SiblingShapes siblings = new SiblingShapes();

    /** One thread for each fetch, so that an interrupt cancels just that fetch. */
    private final ExecutorService fetchThreads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("fetch-", 0).factory());

    @GuardedBy("objects")
    private final Map<ObjectVersion, OpenVersion> objects = new HashMap<>();

    private final long lingerNanos;

    /** Those without a reader, by System.nanoTime() when they are to be closed, the first of them first. */
    @GuardedBy("objects")
    private final Map<OpenVersion, Long> lingering = new LinkedHashMap<>();

    /** Whether a thread closes those whose time is up. */
    @GuardedBy("objects")
    private boolean isClosing;

    private sealed interface Readahead {
        record InFile(OpenVersion object, Stream stream) implements Readahead {}

        record InDirectory(DirectoryStream stream) implements Readahead {}

        /** Of a {@link Warmup}, whose thread waits for it. */
        record Turn(Semaphore admitted) implements Readahead {}
    }

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
        this.lingerNanos = linger.toNanos();
        this.store = store;
        this.cache = cache;
        this.namespace = namespace;
        this.limits = new ReadaheadLimits(config);
        this.gate = new FetchGate<>(() -> limits.get().concurrency());
        this.peerGate = new PeerGate(() -> limits.get().concurrency());
        // The other half is for pages that are being read, and pages on their way to the disk.
        this.running = new RunningStreams(() -> cache.memoryBytes() / 2, System::nanoTime);
        // What is fetched must still be there when it is read, and not in place of what was read before.
        this.directories = new DirectoryStreams(listed, limits, () -> cache.roomBytes() / 2, counters.readaheadUsed);
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
        if (isSmall(version) && version.size() > 0 && limits.get().maxWindowBytes() > 0) {
            DirectoryStream stream = directories.opened(version, object.cached.state(0) == PageState.MISSING);
            if (stream != null) {
                readAhead(new Readahead.InDirectory(stream));
            }
        }
        return new ObjectReader(this, object, limits);
    }

    /**
     * Reads of this version for another node of the cache group: what is Missing comes from the store alone, and nothing is
     * read ahead. Must be closed.
     */
    public PeerReader openForPeer(ObjectVersion version) {
        return new PeerReader(this, share(version));
    }

    /** From now on asks these before the store. */
    public void setPeers(PeerSource peers) {
        this.peers = peers;
    }

    private boolean isSmall(ObjectVersion version) {
        return version.size() <= limits.get().smallFileBytes();
    }

    /** The version with one reader more, which must {@linkplain #closed close}. */
    OpenVersion share(ObjectVersion version) {
        OpenVersion mine = new OpenVersion(
                cache.open(namespace, version),
                isSmall(version) ? null : cache.openSectors(namespace, version),
                new Streams(limits, version.size(), counters.readaheadUsed, running));
        OpenVersion shared;
        synchronized (objects) {
            shared = objects.computeIfAbsent(version, absent -> mine);
            shared.readers++;
            if (lingering.remove(shared) != null) {
                shared.resume();
            }
        }
        if (shared != mine) {
            mine.closePages();
        }
        return shared;
    }

    /** A reader of this object has closed. */
    void closed(OpenVersion object) {
        OpenVersion done = object;
        synchronized (objects) {
            if (--object.readers > 0) {
                return;
            }
            if (lingers(object)) {
                object.pause();
                lingering.put(object, System.nanoTime() + lingerNanos);
                done = lingering.size() > MOST_LINGERING
                        ? lingering.keySet().iterator().next()
                        : null;
                if (done != null) {
                    lingering.remove(done);
                }
            }
            if (done != null) {
                objects.remove(done.cached.version());
            }
        }
        if (done != null) {
            done.close();
        }
    }

    /** Has it closed later, unless it is small or the cache has all of it, as its streams are of no use then. */
    @GuardedBy("objects")
    private boolean lingers(OpenVersion object) {
        boolean isStreamed = object.cached.version().size() > limits.get().smallFileBytes() && !object.cached.isWhole();
        if (lingerNanos == 0 || !isStreamed) {
            return false;
        }
        isClosing = isClosing || start(this::closeLingering);
        return isClosing;
    }

    /** Ends once nothing lingers any more. */
    private void closeLingering() {
        try {
            long nanos = lingerNanos;
            while (nanos > 0) {
                TimeUnit.NANOSECONDS.sleep(nanos);
                nanos = closeDue();
            }
        } catch (InterruptedException e) { // by close(), which closes the rest
            Thread.currentThread().interrupt();
        }
    }

    /** @return nanoseconds until the next is due; 0 if there is none */
    private long closeDue() {
        List<OpenVersion> due = new ArrayList<>();
        long nanos = 0;
        synchronized (objects) {
            for (Map.Entry<OpenVersion, Long> entry : lingering.entrySet()) {
                nanos = entry.getValue() - System.nanoTime();
                if (nanos > 0) {
                    break;
                }
                due.add(entry.getKey());
            }
            due.forEach(object -> {
                lingering.remove(object);
                objects.remove(object.cached.version());
            });
            isClosing = !lingering.isEmpty();
            nanos = isClosing ? Math.max(1, nanos) : 0;
        }
        closeAll(due);
        return nanos;
    }

    /** One that fails to close keeps none of the others open. */
    private static void closeAll(List<OpenVersion> objects) {
        for (OpenVersion object : objects) {
            try {
                object.close();
            } catch (RuntimeException | Error e) {
                LOG.error(
                        "Closing {} failed unexpectedly",
                        object.cached.version().key(),
                        e);
            }
        }
    }

    /** Has other limits from now on. GETs that run and exceed them end by themselves. */
    public void adjust(ReadaheadConfig config) {
        limits.set(config);
        gate.limitChanged();
        peerGate.limitChanged();
        admitReadahead();
    }

    SiblingShapes siblings() {
        return siblings;
    }

    public ReadaheadStatistics statistics() {
        return counters.snapshot();
    }

    /** The number of GETs that run now or wait for the store. */
    int running() {
        return gate.running();
    }

    /** The number of open object versions. */
    int openObjects() {
        synchronized (objects) {
            return objects.size();
        }
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
        object.retain();
        if (!start(() -> runDemand(object, fetch))) {
            fetch.abandon();
            object.release();
        }
        return fetch;
    }

    PeerGate peerGate() {
        return peerGate;
    }

    /** Starts the GET of a claim that another node waits for. For readahead the peers' gate has admitted it. */
    RangeFetch fetchForPeer(OpenVersion object, Fill fill, Urgency urgency) {
        RangeFetch fetch =
                new RangeFetch(PeerSource.NONE, store, object.cached.version(), fill, urgency, deadline(), counters);
        object.retain();
        boolean started = start(() -> {
            try {
                object.run(fetch, peerGate.gets());
            } finally {
                object.release();
                peerGate.admit();
            }
        });
        if (!started) {
            fetch.abandon();
            object.release();
            if (urgency == Urgency.READAHEAD) {
                peerGate.giveBack();
            }
        }
        return fetch;
    }

    /** Starts the stream's readahead soon, without waiting. */
    void readAhead(OpenVersion object, Stream stream) {
        readAhead(new Readahead.InFile(object, stream));
    }

    private void readAhead(Readahead readahead) {
        gate.enqueue(readahead);
        admitReadahead();
    }

    private void runDemand(OpenVersion object, RangeFetch fetch) {
        try {
            object.run(fetch, gate);
        } finally {
            object.release();
            admitReadahead();
        }
    }

    /** The GET that the gate has admitted: it is given back here, or by the fetch. */
    private void runReadahead(Readahead readahead) {
        switch (readahead) {
            case Readahead.InFile inFile -> runInFile(inFile);
            case Readahead.InDirectory inDirectory -> runInDirectory(inDirectory);
            case Readahead.Turn turn -> turn.admitted().release();
        }
    }

    private void runInFile(Readahead.InFile readahead) {
        OpenVersion object = readahead.object();
        if (!object.retain()) {
            giveBack();
            return;
        }
        try {
            Fill fill = claim(() -> object.claimReadahead(readahead.stream()));
            if (fill != null) {
                RangeFetch _ = run(readahead, object, fill);
            }
        } finally {
            object.release();
        }
    }

    /** Fetches the next file of the directory that the cache has not. */
    private void runInDirectory(Readahead.InDirectory readahead) {
        DirectoryStream stream = readahead.stream();
        DirectoryStream.Next file = stream.next();
        if (file == null) {
            giveBack();
            return;
        }
        OpenVersion object = share(file.version());
        try {
            long pages = OpenVersion.pages(file.version().size());
            Fill fill = claim(() -> object.cached.claim(0, pages, Urgency.READAHEAD));
            if (fill != null) {
                if (run(readahead, object, fill).failure(fill.range().offset()) != null) {
                    stream.failed(file);
                }
            } else if (object.anyMissing(0, pages)) {
                stream.pause(file);
            } else {
                stream.had(file);
                readAhead(readahead);
            }
        } finally {
            closed(object);
        }
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
                giveBack();
            }
        }
        return fill;
    }

    /** Fetches it, once others may begin: their next ranges come after those of the streams that wait. */
    private RangeFetch run(Readahead readahead, OpenVersion object, Fill fill) {
        counters.readaheadBytes.add(fill.range().length());
        readAhead(readahead);
        RangeFetch fetch = ahead(object, fill);
        try {
            object.run(fetch, gate);
        } finally {
            admitReadahead();
        }
        return fetch;
    }

    /** Never waits for the store or the disk. */
    public ReadState readState(ObjectVersion version) {
        OpenVersion object = share(version);
        try {
            int readers;
            synchronized (objects) {
                readers = object.readers - 1; // but for this one
            }
            return new ReadState(
                    readers, object.streams.runningCount(), object.cached.readShape(), rangeBytes(version));
        } finally {
            closed(object);
        }
    }

    PageCache cache() {
        return cache;
    }

    String namespace() {
        return namespace;
    }

    /** How much of the version one GET is for: at most, in bytes. */
    long rangeBytes(ObjectVersion version) {
        long most = limits.get().rangeSizeBytes();
        return isSmall(version) ? Math.max(version.size(), most) : most;
    }

    /** Waits until the gate admits a GET, which comes after all that readers wait for. {@link #claim} must follow. */
    void awaitTurn() throws InterruptedException {
        Semaphore admitted = new Semaphore(0);
        Readahead turn = new Readahead.Turn(admitted);
        readAhead(turn);
        boolean isMine = false;
        try {
            admitted.acquire();
            isMine = true;
        } finally {
            if (!isMine && !gate.remove(turn)) { // it has been admitted
                giveBack();
            }
        }
    }

    /**
     * Fetches a claim that the gate has admitted, on another thread.
     *
     * @param object shared by the caller until it is done
     * @param done gets the store's exception, or that of a fetch that was cancelled; null if there is none
     */
    void fetchAhead(OpenVersion object, Fill fill, Consumer<@Nullable Exception> done) {
        RangeFetch fetch = ahead(object, fill);
        object.retain();
        boolean started = start(() -> {
            try {
                object.run(fetch, gate);
            } finally {
                object.release();
                Exception failure = fetch.failure(fill.range().offset());
                done.accept(failure != null && failure.getCause() instanceof Exception cause ? cause : failure);
                admitReadahead();
            }
        });
        if (!started) {
            fetch.abandon();
            object.release();
            gate.release(Urgency.READAHEAD);
            done.accept(new FetchAbandonedException(null));
        }
    }

    private RangeFetch ahead(OpenVersion object, Fill fill) {
        Deadline deadline = store.retries().forReading();
        return new RangeFetch(peers, store, object.cached.version(), fill, Urgency.READAHEAD, deadline, counters);
    }

    private void giveBack() {
        gate.release(Urgency.READAHEAD);
        admitReadahead();
    }

    private void admitReadahead() {
        Readahead next;
        while ((next = gate.admit()) != null) {
            Readahead admitted = next;
            if (!start(() -> runReadahead(admitted))) {
                gate.release(Urgency.READAHEAD);
            }
        }
    }

    /** False after {@link #close}. */
    private boolean start(Runnable task) {
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
        List<OpenVersion> left;
        synchronized (objects) {
            isClosing = false;
            left = List.copyOf(lingering.keySet());
            lingering.clear();
            left.forEach(object -> objects.remove(object.cached.version()));
        }
        closeAll(left);
        try {
            if (!fetchThreads.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("GETs from {} did not end within {} s of being cancelled", namespace, CLOSE_SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

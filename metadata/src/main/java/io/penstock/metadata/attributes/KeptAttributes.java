package io.penstock.metadata.attributes;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Node;
import io.penstock.metadata.Tree;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectDescription;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.SharedRequests;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The attributes that objects keep, by version. A HEAD requests them, once for all concurrent callers, and only where
 * the directory's marker says that there may be some. It is repeated after the time to live of names if the answer was
 * {@linkplain KnownAttributes racy}. Safe for use by any number of threads.
 */
public final class KeptAttributes implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(KeptAttributes.class);

    /** An entry that is dropped costs a HEAD. */
    private static final int MOST_CACHED = 400_000;

    /** Heap for each entry. */
    private static final int CACHED_BYTES = 500;

    /** Maximum number of concurrent HEADs. */
    private static final int CONCURRENCY = 64;

    private final ObjectStore store;
    private final DirectoryMarkers markers;
    private final Keeping keeping;
    private final Cache<String, KnownAttributes> known = Caffeine.newBuilder()
            .maximumSize(mostCached(Runtime.getRuntime().maxMemory()))
            .executor(Runnable::run)
            .build();
    private final ConcurrentMap<String, CompletableFuture<KnownAttributes>> asked = new ConcurrentHashMap<>();
    private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore turns = new Semaphore(CONCURRENCY);

    /** Null if nothing is kept for the next mount. */
    private final @Nullable AttributesSnapshot snapshot;

    /** Whether the snapshot was read: before, it may have more than is known. */
    private volatile boolean isLoaded;

    /** Whether the snapshot lacks settled attributes. */
    private volatile boolean isToSave;

    /** Which objects' attributes are requested. */
    public enum Keeping {
        /** None, and none are written. */
        IGNORE,
        /** Those in marked directories. */
        KEEP,
        /** All: other programs, which set no markers, may have kept attributes. */
        ALL
    }

    /** @param snapshot of the last mount, for the next one; null for none */
    public KeptAttributes(
            ObjectStore store, DirectoryMarkers markers, Keeping keeping, @Nullable AttributesSnapshot snapshot) {
        this.store = store;
        this.markers = markers;
        this.keeping = keeping;
        this.snapshot = keeping == Keeping.IGNORE ? null : snapshot;
    }

    /** An eighth of the heap. */
    static long mostCached(long heapBytes) {
        return Math.min(MOST_CACHED, heapBytes / 8 / CACHED_BYTES);
    }

    /** Begins with the attributes that the last mount knew, read in the background. Until then the store is asked. */
    public void load() {
        if (snapshot != null) {
            executor.execute(() -> load(snapshot));
        }
    }

    private void load(AttributesSnapshot of) {
        try {
            for (KnownAttributes.Settled each : of.read()) {
                known.asMap().putIfAbsent(each.version().key(), each);
            }
        } catch (NoSuchFileException e) {
            // the first mount
        } catch (ClosedByInterruptException e) {
            return; // the mount has ended: the file stays unchanged
        } catch (IOException e) {
            LOG.warn("The files' attributes saved by the last mount are not used: {}", e.getMessage());
        }
        isLoaded = true;
    }

    /** Whether {@link #load} is complete. */
    boolean isLoaded() {
        return isLoaded;
    }

    private void save(AttributesSnapshot to) {
        try {
            to.write(known.asMap().values().stream()
                    .filter(KnownAttributes.Settled.class::isInstance)
                    .map(KnownAttributes.Settled.class::cast)
                    .toList());
        } catch (IOException e) {
            LOG.warn("The files' attributes cannot be saved for the next mount: {}", e.getMessage());
        }
    }

    /** For a mount that neither keeps nor shows attributes. */
    public static KeptAttributes none(ObjectStore store, Tree tree) {
        return new KeptAttributes(store, new DirectoryMarkers(store, tree, System::nanoTime), Keeping.IGNORE, null);
    }

    /** Whether attributes can be changed. */
    public boolean areKept() {
        return keeping != Keeping.IGNORE;
    }

    public DirectoryMarkers markers() {
        return markers;
    }

    /**
     * The attributes if they are known; null if that takes a request to the store.
     *
     * @param parent the directory of the node; null for the root
     */
    public @Nullable ObjectAttributes now(@Nullable Directory parent, Node node) {
        return switch (node) {
            case Directory directory -> {
                ObjectAttributes none = noneIn(parent);
                DirectoryMarkers.Marker marker = none == null && mayAsk(parent) ? markers.now(directory) : null;
                yield none != null ? none : marker == null ? null : marker.attributes();
            }
            case FileEntry(var object) -> now(parent, object.version());
            default -> ObjectAttributes.NONE;
        };
    }

    /** {@link #now(Directory, Node)} for a file of this version. */
    public @Nullable ObjectAttributes now(@Nullable Directory parent, ObjectVersion version) {
        KnownAttributes last = keeping == Keeping.IGNORE ? null : last(version);
        if (last != null && holds(last)) {
            return last.attributes();
        }
        ObjectAttributes none = noneIn(parent);
        // Another node that had changed them would have marked the directory.
        return none == null || last == null ? none : last.attributes();
    }

    /** The attributes of objects in a directory without any; null if there may be some, or if that is unknown. */
    private @Nullable ObjectAttributes noneIn(@Nullable Directory parent) {
        if (keeping == Keeping.IGNORE) {
            return ObjectAttributes.NONE;
        }
        DirectoryMarkers.Marker marker = parent == null || keeping == Keeping.ALL ? null : markers.now(parent);
        return marker == null || marker.isBelow() ? null : ObjectAttributes.NONE;
    }

    private boolean mayAsk(@Nullable Directory parent) {
        return parent == null || keeping == Keeping.ALL || markers.now(parent) != null;
    }

    /** The last known attributes of this version; null if they were never known. */
    public @Nullable ObjectAttributes of(ObjectVersion version) {
        KnownAttributes last = last(version);
        return last == null ? null : last.attributes();
    }

    private @Nullable KnownAttributes last(ObjectVersion version) {
        KnownAttributes last = known.getIfPresent(version.key());
        return last != null && last.isOf(version) ? last : null;
    }

    /** Whether these are valid without another request. */
    private boolean holds(KnownAttributes last) {
        return switch (last) {
            case KnownAttributes.Settled _ -> true;
            case KnownAttributes.Racy racy -> markers.isValid(racy.asOf());
        };
    }

    /** The attributes, requested from the store if necessary. */
    public ObjectAttributes of(@Nullable Directory parent, Node node)
            throws ObjectStoreException, InterruptedException {
        ObjectAttributes now = now(parent, node);
        if (now != null) {
            return now;
        }
        return switch (node) {
            case Directory root when parent == null -> markers.soon(root).attributes();
            case Directory directory ->
                store.retries()
                        .forReading()
                        .callUnlessWithin(
                                () -> isMarked(parent) ? markers.of(directory).attributes() : ObjectAttributes.NONE);
            case FileEntry(var object) -> of(parent, object.version());
            default -> ObjectAttributes.NONE;
        };
    }

    /** {@link #of(Directory, Node)} for a file of this version. If the store does not respond, the last known ones. */
    public ObjectAttributes of(@Nullable Directory parent, ObjectVersion version)
            throws ObjectStoreException, InterruptedException {
        return keeping == Keeping.IGNORE
                ? ObjectAttributes.NONE
                : store.retries().forReading().callUnlessWithin(() -> ask(parent, version));
    }

    private ObjectAttributes ask(@Nullable Directory parent, ObjectVersion version)
            throws ObjectStoreException, InterruptedException {
        boolean isMarked = isMarked(parent);
        KnownAttributes last = last(version);
        if (last != null && (!isMarked || holds(last))) {
            return last.attributes();
        } else if (!isMarked) {
            return ObjectAttributes.NONE;
        }
        try {
            return SharedRequests.await(start(version)).attributes();
        } catch (ObjectStoreException.Away | ObjectStoreException.AccessDenied e) {
            if (last == null) {
                throw e;
            }
            LOG.debug("The attributes of '{}' are assumed unchanged", version.key(), e);
            return last.attributes();
        }
    }

    private boolean isMarked(@Nullable Directory parent) throws ObjectStoreException, InterruptedException {
        return parent == null || keeping == Keeping.ALL || markers.of(parent).isBelow();
    }

    /** The attributes that the store has now, regardless of those known: for a caller about to change them. */
    public ObjectAttributes ask(String key) throws ObjectStoreException, InterruptedException {
        return keeping == Keeping.IGNORE ? ObjectAttributes.NONE : read(store.describe(key));
    }

    /** The last known set-group-id bit and group of a directory. */
    public ObjectAttributes last(Directory directory) {
        return keeping == Keeping.IGNORE
                ? ObjectAttributes.NONE
                : markers.last(directory).attributes();
    }

    /** A name in the directory is being looked up: requests its marker at the same time. */
    public void expect(Directory directory) {
        if (keeping == Keeping.KEEP) {
            markers.expect(directory);
        }
    }

    /** Requests unknown attributes in the background, for a reader of the directory that needs them next. */
    public void expect(Directory directory, List<Node> nodes) throws ObjectStoreException, InterruptedException {
        if (keeping == Keeping.IGNORE
                || (keeping == Keeping.KEEP && !markers.of(directory).isBelow())) {
            return;
        }
        for (Node node : nodes) {
            switch (node) {
                case Directory below -> markers.expect(below);
                case FileEntry(var object)
                when now(directory, object.version()) == null && !executor.isShutdown() -> {
                    var _ = start(object.version());
                }
                default -> {}
            }
        }
    }

    @SuppressWarnings("ReferenceEquality") // whether it is still this very request
    private CompletableFuture<KnownAttributes> start(ObjectVersion version) {
        String key = version.key();
        CompletableFuture<KnownAttributes> running = asked.computeIfAbsent(
                key, _ -> SharedRequests.start(executor, store.retries().forReading(), () -> askNow(version)));
        return running.whenComplete((found, _) -> {
            if (found != null) {
                asked.computeIfPresent(key, (_, current) -> {
                    if (current == running) {
                        remember(found);
                    }
                    return current;
                });
            }
            asked.remove(key, running);
        });
    }

    private KnownAttributes askNow(ObjectVersion version) throws ObjectStoreException, InterruptedException {
        Deadline.standInLine(turns::acquire);
        try {
            long asOf = markers.nanoTime();
            ObjectDescription there = store.describe(version.key());
            ObjectAttributes all = read(there);
            ObjectAttributes attributes = version.size() == 0 || S3fsLink.isOne(there) ? all : all.ofFile();
            // Those of a newer version are equally good: the name is about to be looked up again.
            return KnownAttributes.isSettled(there.object().version().lastModified(), there.date())
                    ? new KnownAttributes.Settled(version, attributes)
                    : new KnownAttributes.Racy(version, attributes, asOf);
        } finally {
            turns.release();
        }
    }

    private ObjectAttributes read(ObjectDescription there) throws ObjectStoreException, InterruptedException {
        ObjectAttributes all = AttributeHeaders.read(there.headers());
        return S3fsLink.isOne(there)
                ? all.withTarget(S3fsLink.target(store, there.object().version()))
                : all;
    }

    private void remember(KnownAttributes found) {
        known.asMap().merge(found.version().key(), found, (current, _) -> isSetSince(current, found) ? current : found);
        if (found instanceof KnownAttributes.Settled) {
            isToSave = true;
        }
    }

    /** Whether these were set here, for this version or a later one, while the store was asked. */
    private boolean isSetSince(KnownAttributes current, KnownAttributes found) {
        return current.isOf(found.version())
                ? holds(current)
                : current.version().lastModified().isAfter(found.version().lastModified());
    }

    /** This version was created here, with these attributes. Another node may change them within the same second. */
    public void set(ObjectVersion version, ObjectAttributes attributes) {
        if (keeping != Keeping.IGNORE) {
            known.put(version.key(), new KnownAttributes.Racy(version, attributes, markers.nanoTime()));
        }
    }

    /** A change of this object failed, but may have taken effect: its cached attributes are no longer valid. */
    public void doubt(String key) {
        asked.remove(key); // that request was earlier
        known.invalidate(key);
    }

    /** Requests the directory's marker, if it is not known. */
    public void learn(Directory directory) throws ObjectStoreException, InterruptedException {
        if (keeping != Keeping.IGNORE) {
            var _ = markers.of(directory);
        }
    }

    /** A directory has the name of another, whose marker may still be cached: its own, if known, replaces that. */
    public void moved(Directory from, Directory to) {
        markers.moved(from, to);
    }

    /** Forgets the attributes of the directory and of everything below it. */
    public void forgetAll(Directory directory) {
        asked.keySet().removeIf(directory::contains); // that request was earlier
        known.asMap().keySet().removeIf(directory::contains);
        markers.forgetAll(directory);
    }

    /** Interrupts running requests, and keeps the known attributes for the next mount. The store stays open. */
    @Override
    public void close() {
        executor.shutdownNow();
        markers.close();
        if (snapshot != null && isLoaded && isToSave) {
            save(snapshot);
        }
    }
}

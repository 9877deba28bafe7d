package io.penstock.metadata.attributes;

import static java.util.Objects.requireNonNull;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Calls;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Names;
import io.penstock.metadata.Tree;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectDescription;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.WriteCondition;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The objects that mark directories, {@code dir/}. They keep the directory's own attributes, and say whether any object
 * in the directory may have some: only then is an object asked for its attributes. So a bucket without kept
 * attributes costs at most one HEAD a directory, and none where a listing shows that there is no marker.
 *
 * <p>Answers are cached for the time to live of names. Questions and changes share what is remembered of a marker: hence the
 * length. Safe for use by any number of threads.
 */
public final class DirectoryMarkers implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryMarkers.class);

    /** Some 300 bytes each. */
    private static final int MOST_CACHED = 100_000;

    /** Other nodes that change the same marker at the same time make an attempt fail. */
    private static final int ATTEMPTS = 4;

    /** For which the store is waited for where it need not be. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    /** Of calls that make one attempt each, which the timeouts of the connection end. */
    private static final Duration NO_LIMIT = Duration.ofNanos(Long.MAX_VALUE);

    private final ObjectStore store;
    private final Tree tree;
    private final LongSupplier nanoClock;

    /** One thread at a time changes a directory's marker. A turn is there for as long as a thread has it, or waits for it. */
    private final Cache<String, ReentrantLock> turns =
            Caffeine.newBuilder().weakValues().executor(Runnable::run).build();

    /** Kept beyond their time: the last known marker is better than none while the store is away. */
    private final Cache<String, Dated> markers;

    private final ConcurrentMap<String, CompletableFuture<Dated>> asked = new ConcurrentHashMap<>();
    private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();

    /**
     * What a directory's marker says.
     *
     * @param isBelow whether objects in the directory may have kept attributes
     */
    record Marker(boolean isBelow, ObjectAttributes attributes) {
        static final Marker NONE = new Marker(false, ObjectAttributes.NONE);
    }

    /**
     * @param asOf when the store was asked, on the clock: nanoseconds
     * @param isDoubted whether the store may have another by now, as after a change that has failed
     */
    private record Dated(Marker marker, long asOf, boolean isDoubted) {}

    /** @param nanoClock monotonic nanoseconds, such as {@link System#nanoTime} */
    public DirectoryMarkers(ObjectStore store, Tree tree, LongSupplier nanoClock) {
        this.store = store;
        this.tree = tree;
        this.nanoClock = nanoClock;
        this.markers = Caffeine.newBuilder()
                .maximumSize(MOST_CACHED)
                .executor(Runnable::run)
                .build();
    }

    /** How long an answer is believed: nanoseconds. */
    public long validNanos() {
        return tree.limits().ttlNanos();
    }

    /** The time on the clock: nanoseconds. */
    long nanoTime() {
        return nanoClock.getAsLong();
    }

    /** Whether an answer is still believed. */
    boolean isValid(long asOf) {
        return nanoTime() - asOf < validNanos();
    }

    /** The marker if it is known; null if the store would have to be asked. */
    @Nullable
    Marker now(Directory directory) {
        Dated known = markers.getIfPresent(directory.prefix());
        if (known != null && known.isDoubted) {
            return null;
        } else if (known != null && isValid(known.asOf)) {
            return known.marker;
        }
        Long asOf = tree.hadNoMarker(directory);
        if (asOf == null) {
            return null;
        }
        remember(directory.prefix(), new Dated(Marker.NONE, asOf, false));
        return Marker.NONE;
    }

    /** The marker as it was known last, however long ago. */
    Marker last(Directory directory) {
        Marker now = now(directory);
        if (now != null) {
            return now;
        }
        Dated known = markers.getIfPresent(directory.prefix());
        return known == null ? Marker.NONE : known.marker;
    }

    /** The same; null if nothing is known of it that could stand in for the store. */
    private @Nullable Marker lastKnown(Directory directory) {
        Dated known = markers.getIfPresent(directory.prefix());
        if (known == null || (known.isDoubted && known.marker.equals(Marker.NONE))) {
            return null;
        }
        return known.marker;
    }

    /**
     * While the store is away, the marker that was known last. If none was, the failure: what is private must not show as if
     * nothing were kept.
     */
    Marker of(Directory directory) throws ObjectStoreException, InterruptedException {
        Marker known = now(directory);
        if (known != null) {
            return known;
        }
        try {
            return Calls.await(ask(directory)).marker;
        } catch (ObjectStoreException.Away e) {
            Marker last = lastKnown(directory);
            if (last == null) {
                throw e;
            }
            LOG.debug("The marker of '{}' is believed to be what it was", directory.prefix(), e);
            return last;
        }
    }

    /** The same; the last known one after a second, as a program may enter a mount while the store is away. */
    Marker soon(Directory directory) throws ObjectStoreException, InterruptedException {
        Marker last = lastKnown(directory);
        if (last == null || now(directory) != null) {
            return of(directory);
        }
        try {
            return ask(directory).get(PATIENCE.toNanos(), TimeUnit.NANOSECONDS).marker;
        } catch (TimeoutException | ExecutionException e) {
            LOG.debug("The marker of '{}' is believed to be what it was", directory.prefix(), e);
            return last;
        }
    }

    /** The marker that was asked for later counts. */
    private void remember(String prefix, Dated marker) {
        markers.asMap().merge(prefix, marker, (known, found) -> found.asOf - known.asOf >= 0 ? found : known);
    }

    /** The store may have another marker by now, as after a change that has failed: it is asked before that is believed again. */
    public void doubt(Directory directory) {
        Marker before = last(directory);
        markers.put(directory.prefix(), new Dated(before, nanoClock.getAsLong(), true));
        asked.remove(directory.prefix()); // that was asked before
    }

    /** Has the store asked, if it has to be: a caller will want the marker soon. */
    void expect(Directory directory) {
        if (now(directory) == null && !executor.isShutdown()) {
            var _ = ask(directory);
        }
    }

    @SuppressWarnings("ReferenceEquality") // whether it is still this very request
    private CompletableFuture<Dated> ask(Directory directory) {
        String prefix = directory.prefix();
        CompletableFuture<Dated> running = asked.computeIfAbsent(
                prefix, _ -> Calls.start(executor, store.retries().forReading(), () -> askNow(directory)));
        return running.whenComplete((found, _) -> {
            if (found != null) {
                asked.computeIfPresent(prefix, (_, current) -> {
                    if (current == running) {
                        remember(prefix, found);
                    }
                    return current;
                });
            }
            asked.remove(prefix, running);
        });
    }

    private Dated askNow(Directory directory) throws ObjectStoreException, InterruptedException {
        long asOf = nanoClock.getAsLong();
        try {
            ObjectDescription found = store.describe(Names.marker(directory));
            tree.markerFound(found.object());
            return new Dated(marker(found), asOf, false);
        } catch (ObjectStoreException.NotFound _) {
            return new Dated(Marker.NONE, asOf, false);
        } catch (ObjectStoreException.AccessDenied _) {
            return new Dated(denied(directory), asOf, false);
        }
    }

    /**
     * What is believed of a marker that the store denies: what was known last. If nothing was, it is missing, which the store
     * does not say for want of s3:ListBucket; unless the credentials, which may have expired, do not list the directory either.
     */
    private Marker denied(Directory directory) throws ObjectStoreException, InterruptedException {
        Marker last = lastKnown(directory);
        if (last != null) {
            return last;
        }
        ListPage _ = store.list(new ListRequest(directory.prefix(), "/", null, null, 1));
        return Marker.NONE;
    }

    /** The marker's object, and remembers what it says, as others may have changed it. Null if there is none. */
    private @Nullable ObjectDescription description(Directory directory)
            throws ObjectStoreException, InterruptedException {
        try {
            ObjectDescription found = store.describe(Names.marker(directory));
            changed(directory, marker(found));
            return found;
        } catch (ObjectStoreException.NotFound _) {
            changed(directory, Marker.NONE);
        } catch (ObjectStoreException.AccessDenied _) {
            changed(directory, denied(directory));
        }
        return null;
    }

    private static Marker marker(ObjectDescription description) {
        return new Marker(
                AttributeHeaders.isBelow(description.headers()), AttributeHeaders.read(description.headers()));
    }

    /** A directory was made here, with these attributes. */
    public void made(Directory directory, ObjectAttributes attributes) {
        changed(directory, new Marker(false, attributes));
    }

    /** A directory was removed here. */
    public void removed(Directory directory) {
        changed(directory, Marker.NONE);
    }

    /** A directory was given the name of another here: its marker, if that is known, counts from now on. */
    void moved(Directory from, Directory to) {
        Marker marker = lastKnown(from);
        if (marker != null) {
            changed(to, marker);
        }
    }

    /** Nothing is known any more of the directory, and of those below it. */
    public void forgetAll(Directory directory) {
        markers.asMap().keySet().removeIf(directory::contains);
        asked.keySet().removeIf(directory::contains);
    }

    private void changed(Directory directory, Marker marker) {
        tree.markerChanged(directory);
        asked.remove(directory.prefix()); // that was asked before
        remember(directory.prefix(), new Dated(marker, nanoClock.getAsLong(), false));
    }

    /**
     * Sees to it that objects in the directory are asked for their attributes, here and on other nodes. The caller has a
     * deadline.
     *
     * @throws ObjectStoreException.AccessDenied if the store takes no marker, as {@link ObjectStoreException.Refused}: here
     *     the directory counts as marked, and the store is not asked again within the time to live, unless it has never said
     *     what the marker is
     */
    void markBelow(Directory directory) throws ObjectStoreException, InterruptedException {
        if (!isMarked(directory)) {
            inTurn(directory, () -> {
                if (!isMarked(directory)) { // by the thread before
                    markNow(directory);
                }
            });
        }
    }

    private boolean isMarked(Directory directory) {
        Marker known = now(directory);
        return known != null && known.isBelow();
    }

    private void markNow(Directory directory) throws ObjectStoreException, InterruptedException {
        try {
            rewrite(directory, before -> before.isBelow() ? Map.of() : AttributeHeaders.below());
        } catch (ObjectStoreException.AccessDenied | ObjectStoreException.Refused e) {
            Dated known = markers.getIfPresent(directory.prefix());
            if (known != null) { // otherwise the directory's own attributes would show as if there were none
                Marker asIfMarked = new Marker(true, known.marker.attributes());
                remember(directory.prefix(), new Dated(asIfMarked, nanoClock.getAsLong(), false));
            }
            throw e;
        }
    }

    /** Changes the directory's own attributes. */
    public void change(Directory directory, UnaryOperator<ObjectAttributes> change)
            throws ObjectStoreException, InterruptedException {
        Directory parent = directory.parent();
        store.retries().forWriting().callUnlessWithin(() -> {
            if (!directory.equals(tree.root()) && parent != null) {
                markBelow(parent);
            }
            inTurn(
                    directory,
                    () -> rewrite(directory, before -> AttributeHeaders.of(change.apply(before.attributes()))));
            return null;
        });
    }

    /** Changes a marker. */
    private interface Change {
        void run() throws ObjectStoreException, InterruptedException;
    }

    /**
     * Empty objects have one ETag, so that no condition of the store holds two changes apart. The wait for the turn is part of
     * the call's time: the changes before it may all wait for a store that takes none.
     */
    private void inTurn(Directory directory, Change change) throws ObjectStoreException, InterruptedException {
        Deadline deadline = requireNonNull(Deadline.current(), "no deadline");
        ReentrantLock turn = turns.get(directory.prefix(), _ -> new ReentrantLock());
        if (!turn.tryLock(deadline.atMost(NO_LIMIT).toNanos(), TimeUnit.NANOSECONDS)) {
            throw deadline.overdue("'" + Names.marker(directory) + "' is still being changed by other calls");
        }
        try {
            change.run();
        } finally {
            turn.unlock();
        }
    }

    /** Headers to be changed, by what the marker says; none if it stays as it is. */
    private interface Rewriting {
        Map<String, String> headers(Marker before);
    }

    private void rewrite(Directory directory, Rewriting rewriting) throws ObjectStoreException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                rewriteOnce(directory, rewriting);
                return;
            } catch (ObjectStoreException.PreconditionFailed | ObjectStoreException.NotFound e) {
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private void rewriteOnce(Directory directory, Rewriting rewriting)
            throws ObjectStoreException, InterruptedException {
        String key = Names.marker(directory);
        ObjectDescription before = description(directory);
        Map<String, String> headers = rewriting.headers(before == null ? Marker.NONE : marker(before));
        if (headers.isEmpty()) {
            return;
        }
        ObjectProperties properties =
                (before == null ? ObjectProperties.ofNew(key) : store.properties(key)).with(headers);
        try {
            write(key, before, properties);
        } catch (ObjectStoreException | InterruptedException e) {
            doubt(directory);
            throw e;
        }
        changed(
                directory,
                new Marker(
                        AttributeHeaders.isBelow(properties.headers()), AttributeHeaders.read(properties.headers())));
    }

    /** @param before the object that is there; null if there is none */
    private void write(String key, @Nullable ObjectDescription before, ObjectProperties properties)
            throws ObjectStoreException, InterruptedException {
        if (before == null) {
            put(key, properties);
            return;
        }
        ObjectVersion version = before.object().version();
        ObjectVersion _ = store.copy(version, key, properties, new WriteCondition.Unchanged(version.etag()));
    }

    private void put(String key, ObjectProperties properties) throws ObjectStoreException, InterruptedException {
        try {
            store.put(key, UploadBody.EMPTY, properties, WriteCondition.ABSENT);
        } catch (IOException e) {
            throw new AssertionError("an empty body is always read", e);
        }
    }

    /** Interrupts running requests. The store stays open. */
    @Override
    public void close() {
        executor.shutdownNow();
    }
}

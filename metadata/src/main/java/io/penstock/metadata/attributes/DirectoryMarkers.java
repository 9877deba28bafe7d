package io.penstock.metadata.attributes;

import static java.util.Objects.requireNonNull;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.core.ObjectVersion;
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
import io.penstock.objectstore.SharedRequests;
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
 * The objects that mark directories, {@code dir/}. They keep the directory's attributes, and record whether any object
 * in the directory may have some: otherwise no HEAD is sent for an object's attributes. So a bucket without kept
 * attributes costs at most one HEAD a directory, and none where a listing shows that there is no marker.
 *
 * <p>Answers are cached for the time to live of names. Safe for use by any number of threads.
 */
public final class DirectoryMarkers implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryMarkers.class);

    /** Some 300 bytes each. */
    private static final int MOST_CACHED = 100_000;

    /** An attempt fails if another node changes the same marker at the same time. */
    private static final int ATTEMPTS = 4;

    /** How long to wait for the store where its response is not essential. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    /** For calls with a single attempt, which the connection's timeouts end. */
    private static final Duration NO_LIMIT = Duration.ofNanos(Long.MAX_VALUE);

    private final ObjectStore store;
    private final Tree tree;
    private final LongSupplier nanoClock;

    /** One thread at a time changes a directory's marker. A lock exists while a thread holds it or waits for it. */
    private final Cache<String, ReentrantLock> turns =
            Caffeine.newBuilder().weakValues().executor(Runnable::run).build();

    /** Kept after they expire: the last known marker is better than none while the store is away. */
    private final Cache<String, Dated> markers;

    private final ConcurrentMap<String, CompletableFuture<Dated>> asked = new ConcurrentHashMap<>();
    private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();

    /**
     * The state of a directory's marker.
     *
     * @param isBelow whether objects in the directory may have kept attributes
     */
    record Marker(boolean isBelow, ObjectAttributes attributes) {
        static final Marker NONE = new Marker(false, ObjectAttributes.NONE);
    }

    /**
     * @param asOf when the store was asked, on the clock: nanoseconds
     * @param isDoubted whether the store may have another marker by now, for example after a failed change
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

    /** How long an answer is valid, in nanoseconds. */
    public long validNanos() {
        return tree.limits().ttlNanos();
    }

    /** The time on the clock: nanoseconds. */
    long nanoTime() {
        return nanoClock.getAsLong();
    }

    /** Whether an answer is still valid. */
    boolean isValid(long asOf) {
        return nanoTime() - asOf < validNanos();
    }

    /** The marker if it is known; null if that takes a request to the store. */
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

    /** The last known marker, however old. */
    Marker last(Directory directory) {
        Marker now = now(directory);
        if (now != null) {
            return now;
        }
        Dated known = markers.getIfPresent(directory.prefix());
        return known == null ? Marker.NONE : known.marker;
    }

    /** The last known marker; null if nothing is known that could replace the store's answer. */
    private @Nullable Marker lastKnown(Directory directory) {
        Dated known = markers.getIfPresent(directory.prefix());
        if (known == null || (known.isDoubted && known.marker.equals(Marker.NONE))) {
            return null;
        }
        return known.marker;
    }

    /**
     * The marker. While the store is away, the last known one; without one the request fails: private objects must not
     * look as if they had no attributes.
     */
    Marker of(Directory directory) throws ObjectStoreException, InterruptedException {
        Marker known = now(directory);
        if (known != null) {
            return known;
        }
        try {
            return SharedRequests.await(ask(directory)).marker;
        } catch (ObjectStoreException.Away e) {
            Marker last = lastKnown(directory);
            if (last == null) {
                throw e;
            }
            LOG.debug("The marker of '{}' is assumed unchanged", directory.prefix(), e);
            return last;
        }
    }

    /** Like {@link #of}, but the last known one after a second: a program may enter a mount while the store is away. */
    Marker soon(Directory directory) throws ObjectStoreException, InterruptedException {
        Marker last = lastKnown(directory);
        if (last == null || now(directory) != null) {
            return of(directory);
        }
        try {
            return ask(directory).get(PATIENCE.toNanos(), TimeUnit.NANOSECONDS).marker;
        } catch (TimeoutException | ExecutionException e) {
            LOG.debug("The marker of '{}' is assumed unchanged", directory.prefix(), e);
            return last;
        }
    }

    /** Keeps the marker from the later request. */
    private void remember(String prefix, Dated marker) {
        markers.asMap().merge(prefix, marker, (known, found) -> found.asOf - known.asOf >= 0 ? found : known);
    }

    /** The store may have another marker by now, for example after a failed change. The known one is invalid. */
    public void doubt(Directory directory) {
        Marker before = last(directory);
        markers.put(directory.prefix(), new Dated(before, nanoClock.getAsLong(), true));
        asked.remove(directory.prefix()); // that request was earlier
    }

    /** Asks the store in the background, if necessary: a caller will soon need the marker. */
    void expect(Directory directory) {
        if (now(directory) == null && !executor.isShutdown()) {
            var _ = ask(directory);
        }
    }

    @SuppressWarnings("ReferenceEquality") // whether it is still this very request
    private CompletableFuture<Dated> ask(Directory directory) {
        String prefix = directory.prefix();
        CompletableFuture<Dated> running = asked.computeIfAbsent(
                prefix, _ -> SharedRequests.start(executor, store.retries().forReading(), () -> askNow(directory)));
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
     * The marker if the store denies access to it: the last known one. If there is none, it is considered missing,
     * which a store without s3:ListBucket does not report. Fails if the directory cannot be listed either: credentials
     * may have expired.
     */
    private Marker denied(Directory directory) throws ObjectStoreException, InterruptedException {
        Marker last = lastKnown(directory);
        if (last != null) {
            return last;
        }
        ListPage _ = store.list(new ListRequest(directory.prefix(), "/", null, null, 1));
        return Marker.NONE;
    }

    /** The marker's object, whose state is cached, because others may have changed it. Null if there is none. */
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

    /** A directory was created here, with these attributes. */
    public void made(Directory directory, ObjectAttributes attributes) {
        changed(directory, new Marker(false, attributes));
    }

    /** A directory was removed here. */
    public void removed(Directory directory) {
        changed(directory, Marker.NONE);
    }

    /** A directory was renamed here: its marker, if known, is that of the new name from now on. */
    void moved(Directory from, Directory to) {
        Marker marker = lastKnown(from);
        if (marker != null) {
            changed(to, marker);
        }
    }

    /** Forgets everything known about the directory and those below it. */
    public void forgetAll(Directory directory) {
        markers.asMap().keySet().removeIf(directory::contains);
        asked.keySet().removeIf(directory::contains);
    }

    private void changed(Directory directory, Marker marker) {
        tree.markerChanged(directory);
        asked.remove(directory.prefix()); // that request was earlier
        remember(directory.prefix(), new Dated(marker, nanoClock.getAsLong(), false));
    }

    /**
     * Ensures that attributes of objects in the directory are requested, here and on other nodes. The caller has a
     * deadline.
     *
     * @throws ObjectStoreException.AccessDenied if the store takes no marker, like
     *     {@link ObjectStoreException.Refused}: then the directory is treated as marked within the time to live, unless
     *     its marker was never known
     */
    void markBelow(Directory directory) throws ObjectStoreException, InterruptedException {
        if (!isMarked(directory)) {
            inTurn(directory, () -> {
                if (!isMarked(directory)) { // by another thread before
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
            if (known != null) { // otherwise the directory would appear to have no attributes
                Marker asIfMarked = new Marker(true, known.marker.attributes());
                remember(directory.prefix(), new Dated(asIfMarked, nanoClock.getAsLong(), false));
            }
            throw e;
        }
    }

    /** Changes the directory's attributes. */
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
     * All empty objects have the same ETag, so no condition of the store distinguishes two changes. The wait for the
     * lock is part of the call's time: the changes before it may all wait for a store that takes none.
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

    /** The headers to change, given the marker; none to leave it unchanged. */
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

    /** @param before the existing object; null if there is none */
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

package io.penstock.metadata.attributes;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.metadata.Calls;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Names;
import io.penstock.metadata.Tree;
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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The objects that mark directories, {@code dir/}. They keep the directory's own attributes, and say whether any object in
 * the directory may have some: only then is an object asked for its attributes. So a bucket in which nobody has kept any
 * costs at most one HEAD a directory, and none where a listing shows that there is no marker.
 *
 * <p>Answers are cached for the time to live of names. Safe for use by any number of threads.
 */
public final class DirectoryMarkers implements AutoCloseable {
    /** Some 300 bytes each. */
    private static final int MOST_CACHED = 100_000;

    /** Other nodes that change the same marker at the same time make an attempt fail. */
    private static final int ATTEMPTS = 4;

    private final ObjectStore store;
    private final Tree tree;
    private final Cache<String, Marker> markers;
    private final ConcurrentMap<String, CompletableFuture<Marker>> asked = new ConcurrentHashMap<>();
    private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();

    /**
     * What a directory's marker says.
     *
     * @param isBelow whether what is in the directory may have kept attributes
     */
    record Marker(boolean isBelow, ObjectAttributes attributes) {
        static final Marker NONE = new Marker(false, ObjectAttributes.NONE);
    }

    /** @param nanoClock monotonic nanoseconds, such as {@link System#nanoTime} */
    public DirectoryMarkers(ObjectStore store, Tree tree, Duration ttl, LongSupplier nanoClock) {
        this.store = store;
        this.tree = tree;
        this.markers = Caffeine.newBuilder()
                .maximumSize(MOST_CACHED)
                .ticker(nanoClock::getAsLong)
                .executor(Runnable::run)
                .expireAfterWrite(ttl)
                .build();
    }

    /** The marker if it is known; null if the store would have to be asked. */
    @Nullable
    Marker now(Directory directory) {
        Marker known = markers.getIfPresent(directory.prefix());
        if (known == null && tree.hasNoMarker(directory)) {
            markers.put(directory.prefix(), Marker.NONE);
            return Marker.NONE;
        }
        return known;
    }

    Marker of(Directory directory) throws ObjectStoreException, InterruptedException {
        Marker known = now(directory);
        return known == null ? Calls.await(ask(directory)) : known;
    }

    /** Has the store asked, if it has to be: a caller will want the marker soon. */
    void expect(Directory directory) {
        if (now(directory) == null && !executor.isShutdown()) {
            var _ = ask(directory);
        }
    }

    private CompletableFuture<Marker> ask(Directory directory) {
        return asked.computeIfAbsent(
                directory.prefix(),
                prefix -> Calls.start(executor, () -> {
                    try {
                        Marker found = marker(description(directory));
                        // What was changed here in between counts.
                        markers.asMap().putIfAbsent(prefix, found);
                        return found;
                    } finally {
                        asked.remove(prefix);
                    }
                }));
    }

    private @Nullable ObjectDescription description(Directory directory)
            throws ObjectStoreException, InterruptedException {
        try {
            return store.describe(Names.marker(directory));
        } catch (ObjectStoreException.NotFound | ObjectStoreException.AccessDenied _) {
            return null;
        }
    }

    private static Marker marker(@Nullable ObjectDescription description) {
        return description == null
                ? Marker.NONE
                : new Marker(
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

    private void changed(Directory directory, Marker marker) {
        tree.markerChanged(directory);
        markers.put(directory.prefix(), marker);
    }

    /** Sees to it that what is in the directory is asked for its attributes, here and on other nodes. */
    void markBelow(Directory directory) throws ObjectStoreException, InterruptedException {
        Marker known = now(directory);
        if (known == null || !known.isBelow()) {
            rewrite(directory, _ -> AttributeHeaders.below());
        }
    }

    /** Changes the directory's own attributes. */
    public void change(Directory directory, UnaryOperator<ObjectAttributes> change)
            throws ObjectStoreException, InterruptedException {
        Directory parent = directory.parent();
        if (!directory.equals(tree.root()) && parent != null) {
            markBelow(parent);
        }
        rewrite(directory, before -> AttributeHeaders.of(change.apply(before.attributes())));
    }

    /** Headers to be changed, by what the marker says. */
    private interface Rewriting {
        Map<String, String> headers(Marker before);
    }

    private void rewrite(Directory directory, Rewriting rewriting) throws ObjectStoreException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                rewriteOnce(directory, rewriting);
                return;
            } catch (ObjectStoreException.PreconditionFailed e) {
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
        Map<String, String> headers = rewriting.headers(marker(before));
        ObjectProperties properties = ObjectProperties.ofNew(key).with(headers);
        if (before == null) {
            put(key, properties);
        } else {
            properties = store.properties(key).with(headers);
            store.copy(
                    before.object().version(),
                    key,
                    properties,
                    new WriteCondition.Unchanged(before.object().version().etag()));
        }
        changed(
                directory,
                new Marker(
                        AttributeHeaders.isBelow(properties.headers()), AttributeHeaders.read(properties.headers())));
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

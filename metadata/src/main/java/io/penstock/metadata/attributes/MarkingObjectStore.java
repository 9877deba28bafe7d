package io.penstock.metadata.attributes;

import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Names;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ForwardingObjectStore;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.UploadListener;
import io.penstock.objectstore.WriteCondition;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Marks a directory before it gets its first object with kept attributes, from a commit, a rename, or recovery by the
 * next mount. All other calls are passed on: copies of whole directories include their markers.
 */
public final class MarkingObjectStore extends ForwardingObjectStore {
    private static final Logger LOG = LoggerFactory.getLogger(MarkingObjectStore.class);

    private final DirectoryMarkers markers;

    /** Beyond this number a warning may be repeated. */
    private static final int MOST_WARNED = 10_000;

    /** Prefixes of directories for which a warning was logged. */
    private final Set<String> warned = Collections.newSetFromMap(Caffeine.newBuilder()
            .maximumSize(MOST_WARNED)
            .executor(Runnable::run)
            .<String, Boolean>build()
            .asMap());

    /** @param markers of the same store */
    public MarkingObjectStore(ObjectStore store, DirectoryMarkers markers) {
        super(store);
        this.markers = markers;
    }

    /** Marks the directory first, if necessary. Both share one deadline. */
    private <T, E extends Exception> T marked(String key, ObjectProperties properties, Deadline.Work<T, E> write)
            throws ObjectStoreException, InterruptedException, E {
        Directory parent = AttributeHeaders.areKept(properties) ? Directory.of(key) : null;
        if (parent == null) {
            return write.run();
        }
        return store.retries().forWriting().callUnlessWithin(() -> {
            mark(parent);
            return write.run();
        });
    }

    /** A store that takes no marker still takes objects: their attributes are shown if those of all are requested. */
    private void mark(Directory directory) throws ObjectStoreException, InterruptedException {
        try {
            markers.markBelow(directory);
        } catch (ObjectStoreException.AccessDenied
                | ObjectStoreException.Refused
                | ObjectStoreException.PreconditionFailed
                | ObjectStoreException.NotFound e) {
            if (warned.add(directory.prefix())) {
                LOG.warn(
                        "'{}' cannot be marked as having files with attributes: other mounts show these attributes"
                                + " only with metadata.attributes=all. {}",
                        Names.marker(directory),
                        e.getMessage());
            }
        }
    }

    @Override
    public ObjectVersion put(String key, UploadBody body, ObjectProperties properties, WriteCondition condition)
            throws ObjectStoreException, IOException, InterruptedException {
        return this.<ObjectVersion, IOException>marked(
                key, properties, () -> store.put(key, body, properties, condition));
    }

    @Override
    public MultipartUpload createUpload(String key, ObjectProperties properties)
            throws ObjectStoreException, InterruptedException {
        return marked(key, properties, () -> store.createUpload(key, properties));
    }

    @Override
    public ObjectVersion copy(
            ObjectVersion source,
            String key,
            ObjectProperties properties,
            WriteCondition condition,
            UploadListener listener)
            throws ObjectStoreException, InterruptedException {
        return marked(key, properties, () -> store.copy(source, key, properties, condition, listener));
    }

    @Override
    public List<ObjectVersion> deleteAll(List<ObjectVersion> versions)
            throws ObjectStoreException, InterruptedException {
        return store.deleteAll(versions);
    }
}

package io.penstock.objectstore.s3;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import java.util.List;
import java.util.stream.IntStream;

/** Deletes objects with concurrent requests, one for each, if one request cannot delete several. Thread-safe. */
final class SingleDeletions {
    /** Requests at a time. */
    static final int CONCURRENCY = 16;

    private final ObjectStore store;

    SingleDeletions(ObjectStore store) {
        this.store = store;
    }

    /** @return versions whose key has another version, which stays */
    List<ObjectVersion> deleteAll(List<ObjectVersion> versions) throws ObjectStoreException, InterruptedException {
        List<Boolean> deleted = ConcurrentRequests.all(
                CONCURRENCY,
                versions.stream()
                        .<ConcurrentRequests.Request<Boolean>>map(version -> () -> isDeleted(version))
                        .toList());
        return IntStream.range(0, versions.size())
                .filter(i -> !deleted.get(i))
                .mapToObj(versions::get)
                .toList();
    }

    private boolean isDeleted(ObjectVersion version) throws ObjectStoreException, InterruptedException {
        try {
            store.delete(version);
            return true;
        } catch (ObjectStoreException.PreconditionFailed _) {
            return false;
        }
    }
}

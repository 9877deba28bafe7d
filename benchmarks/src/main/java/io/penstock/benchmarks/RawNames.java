package io.penstock.benchmarks;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.UploadListener;
import io.penstock.objectstore.WriteCondition;
import io.penstock.tools.measure.Measurement;
import io.penstock.tools.measure.Workers;
import java.io.IOException;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The ceiling of operations on names: the rate of the mount's own S3 client if it knows what to request and does
 * nothing else. An operation is an object.
 */
final class RawNames {
    private final ObjectStore store;

    RawNames(ObjectStore store) {
        this.store = store;
    }

    /** One HEAD each. */
    Measurement attributes(List<String> keys, int concurrency) throws Exception {
        return Workers.REQUESTS.run(concurrency, keys.size(), (i, _) -> store.head(keys.get(i)));
    }

    /** One CopyObject and one DeleteObject each. */
    Measurement renames(List<StoredObject> objects, UnaryOperator<String> target, int concurrency) throws Exception {
        return Workers.REQUESTS.run(concurrency, objects.size(), (i, _) -> {
            ObjectVersion source = objects.get(i).version();
            String key = target.apply(source.key());
            ObjectVersion _ = store.copy(source, key, ObjectProperties.ofNew(key), WriteCondition.ALWAYS);
            store.delete(source.key());
        });
    }

    /** One DeleteObject each. */
    Measurement removals(List<String> keys, int concurrency) throws Exception {
        return Workers.REQUESTS.run(concurrency, keys.size(), (i, _) -> store.delete(keys.get(i)));
    }

    /** One CopyObject each, and then a DeleteObjects per thousand. */
    Measurement move(List<StoredObject> objects, UnaryOperator<String> target, int concurrency) throws Exception {
        long start = System.nanoTime();
        Measurement _ = Workers.REQUESTS.run(concurrency, objects.size(), (i, _) -> {
            StoredObject source = objects.get(i);
            ObjectVersion _ =
                    store.duplicate(source, target.apply(source.version().key()), UploadListener.NOBODY);
        });
        int most = ObjectStore.MOST_DELETED;
        Measurement _ = Workers.REQUESTS.run(concurrency, Math.ceilDiv(objects.size(), most), (i, _) -> {
            List<ObjectVersion> batch = objects.subList(i * most, Math.min((i + 1) * most, objects.size())).stream()
                    .map(StoredObject::version)
                    .toList();
            if (!store.deleteAll(batch).isEmpty()) {
                throw new IOException("another client changes the benchmark's objects");
            }
        });
        return Measurement.ofWhole(objects.size(), System.nanoTime() - start);
    }
}

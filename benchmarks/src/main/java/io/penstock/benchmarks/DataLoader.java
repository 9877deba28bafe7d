package io.penstock.benchmarks;

import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import java.util.HashMap;
import java.util.Map;

/** Finds a data set's objects under a prefix and uploads the missing ones. */
final class DataLoader {
    private final ObjectStore store;
    private final String prefix;

    /** @param prefix ends in a slash */
    DataLoader(ObjectStore store, String prefix) {
        this.store = store;
        this.prefix = prefix;
    }

    /**
     * All objects of the data set, by name without the prefix.
     *
     * @throws BenchException if another object has one of these names: it is not overwritten
     */
    Map<String, StoredObject> ensure(DataSet data, S3Target server) throws Exception {
        Map<String, StoredObject> found = list(data);
        if (found.size() < data.sizes().size()) {
            Map<String, Long> missing = new HashMap<>(data.sizes());
            missing.keySet().removeAll(found.keySet());
            System.err.printf(
                    "uploading %d of %d objects to %s%n",
                    missing.size(), data.sizes().size(), prefix);
            try (SdkUploads uploads = new SdkUploads(server, store.bucket())) {
                uploads.put(prefix, missing);
            }
            found = list(data);
        }
        if (found.size() < data.sizes().size()) {
            throw new BenchException("objects that were uploaded under " + prefix + " are not in its listing");
        }
        return found;
    }

    private Map<String, StoredObject> list(DataSet data)
            throws ObjectStoreException, InterruptedException, BenchException {
        Map<String, Long> sizes = data.sizes();
        Map<String, StoredObject> found = new HashMap<>();
        for (StoredObject object : RawListing.objects(store, prefix)) {
            String name = object.version().key().substring(prefix.length());
            Long size = sizes.get(name);
            if (size != null) {
                check(object, size);
                found.put(name, object);
            }
        }
        return found;
    }

    private static void check(StoredObject object, long size) throws BenchException {
        if (object.version().size() != size) {
            throw new BenchException(
                    object.version().key() + " has " + object.version().size() + " bytes instead of " + size
                            + ": choose another --prefix, or delete it");
        }
    }
}

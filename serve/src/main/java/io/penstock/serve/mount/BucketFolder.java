package io.penstock.serve.mount;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListPages;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.WriteCondition;
import io.penstock.share.ShareFolder;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/** The nodes of a group as empty objects below {@code .penstock/share/} in the mounted part of the bucket. */
final class BucketFolder implements ShareFolder {
    private static final String FOLDER = ".penstock/share/";

    /** Unmounting must not wait long for the store. A node that cannot publish its address tries again later. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final RetryPolicy RETRIES = new RetryPolicy(PATIENCE, PATIENCE);

    private final ObjectStore store;
    private final String folder;

    /** @param prefix the mount's prefix */
    BucketFolder(ObjectStore store, String prefix) {
        this.store = store;
        this.folder = prefix + FOLDER;
    }

    /** A request to the store. */
    private interface Request<T> {
        T make() throws ObjectStoreException, IOException, InterruptedException;
    }

    @Override
    public Map<String, Instant> list() throws IOException, InterruptedException {
        return request(() -> {
            Map<String, Instant> names = new HashMap<>();
            ListPages pages = new ListPages(store::list, ListRequest.of(folder, ""));
            for (ListPage page = pages.next(); page != null; page = pages.next()) {
                for (StoredObject object : page.objects()) {
                    ObjectVersion version = object.version();
                    names.put(version.key().substring(folder.length()), version.lastModified());
                }
            }
            return names;
        });
    }

    @Override
    public void put(String name) throws IOException, InterruptedException {
        String key = folder + name;
        ObjectVersion _ =
                request(() -> store.put(key, UploadBody.EMPTY, ObjectProperties.ofNew(key), WriteCondition.ALWAYS));
    }

    @Override
    public void remove(String name) throws IOException, InterruptedException {
        String _ = request(() -> {
            store.delete(folder + name);
            return name;
        });
    }

    private static <T> T request(Request<T> request) throws IOException, InterruptedException {
        try {
            return RETRIES.forWriting().call(request::make);
        } catch (ObjectStoreException e) {
            throw new IOException(e.getMessage(), e);
        }
    }
}

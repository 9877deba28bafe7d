package io.penstock.tools.doctor;

import io.penstock.core.ByteRange;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.WriteCondition;
import io.penstock.objectstore.ZeroBody;
import java.io.IOException;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Tries the rights of credentials that may list the bucket. Confined to one thread. */
final class RightsTrial {
    private final ObjectStore store;
    private final String key;
    private final List<StoredObject> objects;

    private final Set<Right> granted = EnumSet.of(Right.LIST);
    private final Map<Right, String> denied = new EnumMap<>(Right.class);
    private final Map<Right, String> failed = new EnumMap<>(Right.class);

    /**
     * @param key the key of temporary objects
     * @param objects some objects of the bucket
     */
    RightsTrial(ObjectStore store, String key, List<StoredObject> objects) {
        this.store = store;
        this.key = key;
        this.objects = objects;
    }

    /** An attempt to do something. */
    private interface Attempt {
        void make() throws ObjectStoreException, IOException, InterruptedException;
    }

    RightsCheck.Facts run(boolean write) throws InterruptedException {
        for (StoredObject object :
                objects.stream().filter(RightsTrial::isReadable).limit(1).toList()) {
            attempt(Right.READ, "", () -> store.get(object.version(), new ByteRange(0, 1), new Drain()));
        }
        if (write) {
            tryWriting();
        }
        return new RightsCheck.Facts(granted, denied, failed);
    }

    private void tryWriting() throws InterruptedException {
        String stays = "; remove the temporary object '" + key + "'";
        if (attempt(Right.WRITE, "", () -> store.put(key, new ZeroBody(1), WriteCondition.ALWAYS))) {
            attempt(Right.DELETE, stays, () -> store.delete(key));
            attempt(Right.ABORT, "; a lifecycle rule can abort the upload of '" + key + "'", this::tryUpload);
        }
    }

    private void tryUpload() throws ObjectStoreException, InterruptedException {
        MultipartUpload upload = store.createUpload(key);
        attempt(Right.LIST_PARTS, "", () -> store.parts(upload));
        store.abort(upload);
    }

    /** @param stays the end of the message if it does not succeed: how to remove the object or upload left behind */
    private boolean attempt(Right right, String stays, Attempt attempt) throws InterruptedException {
        try {
            attempt.make();
            granted.add(right);
            return true;
        } catch (ObjectStoreException.AccessDenied e) {
            denied.put(right, e.getMessage() + stays);
        } catch (ObjectStoreException | IOException e) {
            failed.put(right, e.getMessage() + stays);
        }
        return false;
    }

    /** Whether the object has bytes, and is not in an archive. */
    static boolean isReadable(StoredObject object) {
        return object.version().size() > 0 && !Set.of("GLACIER", "DEEP_ARCHIVE").contains(object.storageClass());
    }
}

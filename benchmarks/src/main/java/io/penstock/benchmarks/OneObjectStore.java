package io.penstock.benchmarks;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RefusingObjectStore;
import io.penstock.objectstore.StoredObject;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;

/**
 * A bucket with one object {@code f}, which consists of whatever the buffers contain; for measurements of cached data.
 */
final class OneObjectStore extends RefusingObjectStore {
    static final String KEY = "f";

    private final StoredObject object;

    /** @param size of the object in bytes */
    OneObjectStore(long size) {
        super("memory", new ObjectStoreException.AccessDenied("the bucket in memory is only read", null));
        this.object = new StoredObject(new ObjectVersion(KEY, "\"1\"", size, Instant.EPOCH), "STANDARD");
    }

    @Override
    public void get(ObjectVersion version, ByteRange range, BodySink sink) throws InterruptedException {
        for (long left = range.length(); left > 0; ) {
            ByteBuffer buffer = sink.buffer();
            int slice = (int) Math.min(buffer.remaining(), left);
            buffer.position(buffer.position() + slice);
            sink.filled(slice);
            left -= slice;
        }
    }

    @Override
    public StoredObject head(String key) throws ObjectStoreException {
        if (key.equals(KEY)) {
            return object;
        }
        throw new ObjectStoreException.NotFound("there is only " + KEY, null);
    }

    @Override
    public ListPage list(ListRequest request) {
        return new ListPage(KEY.startsWith(request.prefix()) ? List.of(object) : List.of(), List.of(), null);
    }
}

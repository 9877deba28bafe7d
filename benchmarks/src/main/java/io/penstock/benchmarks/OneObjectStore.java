package io.penstock.benchmarks;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.UploadListener;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.WriteCondition;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;

/**
 * A bucket with one object {@code f}, whose bytes are whatever the buffers held: for what is measured once they are there.
 *
 * @param size of the object in bytes
 */
record OneObjectStore(long size) implements ObjectStore {
    static final String KEY = "f";

    private StoredObject object() {
        return new StoredObject(new ObjectVersion(KEY, "\"1\"", size, Instant.EPOCH), "STANDARD");
    }

    @Override
    public String bucket() {
        return "memory";
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
            return object();
        }
        throw new ObjectStoreException.NotFound("there is only " + KEY, null);
    }

    @Override
    public ObjectProperties properties(String key) throws ObjectStoreException {
        throw readOnly();
    }

    @Override
    public ListPage list(ListRequest request) {
        return new ListPage(KEY.startsWith(request.prefix()) ? List.of(object()) : List.of(), List.of(), null);
    }

    @Override
    public ObjectVersion put(String key, UploadBody body, ObjectProperties properties, WriteCondition condition)
            throws ObjectStoreException {
        throw readOnly();
    }

    @Override
    public MultipartUpload createUpload(String key, ObjectProperties properties) throws ObjectStoreException {
        throw readOnly();
    }

    @Override
    public UploadedPart uploadPart(MultipartUpload upload, int number, UploadBody body) throws ObjectStoreException {
        throw readOnly();
    }

    @Override
    public UploadedPart copyPart(MultipartUpload upload, int number, ObjectVersion source, ByteRange range)
            throws ObjectStoreException {
        throw readOnly();
    }

    @Override
    public ObjectVersion complete(MultipartUpload upload, List<UploadedPart> parts, WriteCondition condition)
            throws ObjectStoreException {
        throw readOnly();
    }

    @Override
    public void abort(MultipartUpload upload) throws ObjectStoreException {
        throw readOnly();
    }

    @Override
    public List<UploadedPart> parts(MultipartUpload upload) throws ObjectStoreException {
        throw readOnly();
    }

    @Override
    public ObjectVersion copy(
            ObjectVersion source,
            String key,
            ObjectProperties properties,
            WriteCondition condition,
            UploadListener listener)
            throws ObjectStoreException {
        throw readOnly();
    }

    @Override
    public void delete(String key) throws ObjectStoreException {
        throw readOnly();
    }

    @Override
    public void delete(ObjectVersion version) throws ObjectStoreException {
        throw readOnly();
    }

    private static ObjectStoreException readOnly() {
        return new ObjectStoreException.AccessDenied("the bucket in memory is only read", null);
    }

    @Override
    public void close() {}
}

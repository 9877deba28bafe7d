package io.penstock.objectstore;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import java.util.List;
import java.util.SortedMap;

/** A bucket that cannot be used: every call fails with the same exception, except those that a subclass overrides. */
public class RefusingObjectStore implements ObjectStore {
    private final String bucket;
    private final ObjectStoreException why;

    /** @param why the exception that every call throws */
    public RefusingObjectStore(String bucket, ObjectStoreException why) {
        this.bucket = bucket;
        this.why = why;
    }

    @Override
    public String bucket() {
        return bucket;
    }

    @Override
    public void get(ObjectVersion version, ByteRange range, BodySink sink)
            throws ObjectStoreException, InterruptedException {
        throw why;
    }

    @Override
    public StoredObject head(String key) throws ObjectStoreException {
        throw why;
    }

    @Override
    public ObjectDescription describe(String key) throws ObjectStoreException {
        throw why;
    }

    @Override
    public SortedMap<String, String> checksums(ObjectVersion version) throws ObjectStoreException {
        throw why;
    }

    @Override
    public ObjectProperties properties(String key) throws ObjectStoreException {
        throw why;
    }

    @Override
    public ListPage list(ListRequest request) throws ObjectStoreException {
        throw why;
    }

    @Override
    public ObjectVersion put(String key, UploadBody body, ObjectProperties properties, WriteCondition condition)
            throws ObjectStoreException {
        throw why;
    }

    @Override
    public MultipartUpload createUpload(String key, ObjectProperties properties) throws ObjectStoreException {
        throw why;
    }

    @Override
    public UploadedPart uploadPart(MultipartUpload upload, int number, UploadBody body) throws ObjectStoreException {
        throw why;
    }

    @Override
    public UploadedPart copyPart(MultipartUpload upload, int number, ObjectVersion source, ByteRange range)
            throws ObjectStoreException {
        throw why;
    }

    @Override
    public ObjectVersion complete(MultipartUpload upload, List<UploadedPart> parts, WriteCondition condition)
            throws ObjectStoreException {
        throw why;
    }

    @Override
    public void abort(MultipartUpload upload) throws ObjectStoreException {
        throw why;
    }

    @Override
    public List<UploadedPart> parts(MultipartUpload upload) throws ObjectStoreException {
        throw why;
    }

    @Override
    public ObjectVersion copy(
            ObjectVersion source,
            String key,
            ObjectProperties properties,
            WriteCondition condition,
            UploadListener listener)
            throws ObjectStoreException {
        throw why;
    }

    @Override
    public ObjectVersion duplicate(StoredObject source, String key, UploadListener listener)
            throws ObjectStoreException {
        throw why;
    }

    @Override
    public void delete(String key) throws ObjectStoreException {
        throw why;
    }

    @Override
    public void delete(ObjectVersion version) throws ObjectStoreException {
        throw why;
    }

    @Override
    public List<ObjectVersion> deleteAll(List<ObjectVersion> versions) throws ObjectStoreException {
        throw why;
    }

    @Override
    public void close() {}
}

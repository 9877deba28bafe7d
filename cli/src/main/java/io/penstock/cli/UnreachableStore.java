package io.penstock.cli;

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
import java.util.List;

/** A bucket that cannot be used now: whatever is asked of it fails in the same way. */
record UnreachableStore(String bucket, ObjectStoreException why) implements ObjectStore {
    @Override
    public void get(ObjectVersion version, ByteRange range, BodySink sink) throws ObjectStoreException {
        throw why;
    }

    @Override
    public StoredObject head(String key) throws ObjectStoreException {
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
    public void delete(String key) throws ObjectStoreException {
        throw why;
    }

    @Override
    public void delete(ObjectVersion version) throws ObjectStoreException {
        throw why;
    }

    @Override
    public void close() {}
}

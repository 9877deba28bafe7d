package io.penstock.objectstore;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import java.io.IOException;
import java.util.List;
import java.util.SortedMap;

/** Forwards to another store: every call passes through {@link #around}, which a decorator overrides. */
public abstract class ForwardingObjectStore implements ObjectStore {
    /** The decorated store. */
    protected final ObjectStore store;

    protected ForwardingObjectStore(ObjectStore store) {
        this.store = store;
    }

    /**
     * A request to the decorated store.
     *
     * @param <X> {@link IOException} if it sends a body
     */
    @FunctionalInterface
    protected interface Request<T, X extends Exception> {
        /** @param body the body to send, or a decorator of it; ignored if nothing is sent */
        T send(UploadBody body) throws ObjectStoreException, InterruptedException, X;
    }

    /**
     * Makes the request, or fails without making it.
     *
     * @param call its description
     * @param body its body; empty for most
     */
    protected <T, X extends Exception> T around(Call call, UploadBody body, Request<T, X> request)
            throws ObjectStoreException, InterruptedException, X {
        return request.send(body);
    }

    private <T> T around(Call call, Request<T, RuntimeException> request)
            throws ObjectStoreException, InterruptedException {
        return around(call, UploadBody.EMPTY, request);
    }

    @Override
    public String bucket() {
        return store.bucket();
    }

    @Override
    public RetryPolicy retries() {
        return store.retries();
    }

    @Override
    public void get(ObjectVersion version, ByteRange range, BodySink sink)
            throws ObjectStoreException, InterruptedException {
        around(new Call.Get(version.key(), range, version.etag()), _ -> {
            store.get(version, range, sink);
            return true;
        });
    }

    @Override
    public StoredObject head(String key) throws ObjectStoreException, InterruptedException {
        return around(new Call.Head(key), _ -> store.head(key));
    }

    @Override
    public ObjectDescription describe(String key) throws ObjectStoreException, InterruptedException {
        return around(new Call.Describe(key), _ -> store.describe(key));
    }

    @Override
    public SortedMap<String, String> checksums(ObjectVersion version)
            throws ObjectStoreException, InterruptedException {
        return around(new Call.Checksums(version.key()), _ -> store.checksums(version));
    }

    @Override
    public ObjectProperties properties(String key) throws ObjectStoreException, InterruptedException {
        return around(new Call.Properties(key), _ -> store.properties(key));
    }

    @Override
    public ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException {
        return around(new Call.List(request), _ -> store.list(request));
    }

    @Override
    public ObjectVersion put(String key, UploadBody body, ObjectProperties properties, WriteCondition condition)
            throws ObjectStoreException, IOException, InterruptedException {
        return this.<ObjectVersion, IOException>around(
                new Call.Put(key, body.length(), condition), body, sent -> store.put(key, sent, properties, condition));
    }

    @Override
    public MultipartUpload createUpload(String key, ObjectProperties properties)
            throws ObjectStoreException, InterruptedException {
        return around(new Call.CreateUpload(key), _ -> store.createUpload(key, properties));
    }

    @Override
    public UploadedPart uploadPart(MultipartUpload upload, int number, UploadBody body)
            throws ObjectStoreException, IOException, InterruptedException {
        return this.<UploadedPart, IOException>around(
                new Call.UploadPart(upload.key(), number, body.length()),
                body,
                sent -> store.uploadPart(upload, number, sent));
    }

    @Override
    public UploadedPart copyPart(MultipartUpload upload, int number, ObjectVersion source, ByteRange range)
            throws ObjectStoreException, InterruptedException {
        return around(
                new Call.CopyPart(upload.key(), number, source.key(), range),
                _ -> store.copyPart(upload, number, source, range));
    }

    @Override
    public ObjectVersion complete(MultipartUpload upload, List<UploadedPart> parts, WriteCondition condition)
            throws ObjectStoreException, InterruptedException {
        List<Integer> numbers = parts.stream().map(UploadedPart::number).toList();
        return around(
                new Call.Complete(upload.key(), numbers, condition), _ -> store.complete(upload, parts, condition));
    }

    @Override
    public void abort(MultipartUpload upload) throws ObjectStoreException, InterruptedException {
        around(new Call.Abort(upload.key()), _ -> {
            store.abort(upload);
            return true;
        });
    }

    @Override
    public List<UploadedPart> parts(MultipartUpload upload) throws ObjectStoreException, InterruptedException {
        return around(new Call.ListParts(upload.key()), _ -> store.parts(upload));
    }

    @Override
    public ObjectVersion copy(
            ObjectVersion source,
            String key,
            ObjectProperties properties,
            WriteCondition condition,
            UploadListener listener)
            throws ObjectStoreException, InterruptedException {
        return around(
                new Call.Copy(source.key(), key, condition),
                _ -> store.copy(source, key, properties, condition, listener));
    }

    @Override
    public ObjectVersion duplicate(StoredObject source, String key, UploadListener listener)
            throws ObjectStoreException, InterruptedException {
        return around(
                new Call.Copy(source.version().key(), key, WriteCondition.ABSENT),
                _ -> store.duplicate(source, key, listener));
    }

    @Override
    public boolean checksDuplicates() throws ObjectStoreException, InterruptedException {
        return store.checksDuplicates();
    }

    @Override
    public void delete(String key) throws ObjectStoreException, InterruptedException {
        around(new Call.Delete(key), _ -> {
            store.delete(key);
            return true;
        });
    }

    @Override
    public void delete(ObjectVersion version) throws ObjectStoreException, InterruptedException {
        around(new Call.Delete(version.key()), _ -> {
            store.delete(version);
            return true;
        });
    }

    @Override
    public void close() {
        store.close();
    }
}

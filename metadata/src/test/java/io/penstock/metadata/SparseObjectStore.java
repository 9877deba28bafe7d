package io.penstock.metadata;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import java.util.List;

/** Puts an empty page before each page of a listing, as S3 may after many deletes. */
final class SparseObjectStore implements ObjectStore {
    private static final String EMPTY = "after-empty:";

    private final ObjectStore store;

    SparseObjectStore(ObjectStore store) {
        this.store = store;
    }

    @Override
    public ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException {
        String token = request.continuationToken();
        if (token == null || !token.startsWith(EMPTY)) {
            return new ListPage(List.of(), List.of(), EMPTY + (token == null ? "" : token));
        }
        String inner = token.substring(EMPTY.length());
        return store.list(new ListRequest(
                request.prefix(),
                request.delimiter(),
                request.startAfter(),
                inner.isEmpty() ? null : inner,
                request.maxKeys()));
    }

    @Override
    public String bucket() {
        return store.bucket();
    }

    @Override
    public void get(ObjectVersion version, ByteRange range, BodySink sink)
            throws ObjectStoreException, InterruptedException {
        store.get(version, range, sink);
    }

    @Override
    public StoredObject head(String key) throws ObjectStoreException, InterruptedException {
        return store.head(key);
    }

    @Override
    public void close() {
        store.close();
    }
}

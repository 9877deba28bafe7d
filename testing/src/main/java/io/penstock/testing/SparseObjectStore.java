package io.penstock.testing;

import io.penstock.objectstore.ForwardingObjectStore;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import java.util.List;

/** Inserts an empty page before each page of a listing, as S3 may after many deletes. */
public final class SparseObjectStore extends ForwardingObjectStore {
    private static final String EMPTY = "after-empty:";

    public SparseObjectStore(ObjectStore store) {
        super(store);
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
}

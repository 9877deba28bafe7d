package io.penstock.testing;

import io.penstock.objectstore.ForwardingObjectStore;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;

/** A store whose listings have small pages. */
public final class SmallPages extends ForwardingObjectStore {
    private final int size;

    public SmallPages(ObjectStore store, int size) {
        super(store);
        this.size = size;
    }

    @Override
    public ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException {
        return super.list(new ListRequest(
                request.prefix(), request.delimiter(), request.startAfter(), request.continuationToken(), size));
    }
}

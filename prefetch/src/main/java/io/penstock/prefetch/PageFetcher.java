package io.penstock.prefetch;

import io.penstock.cache.PageCache;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStore;

/** Brings Missing pages from the object store. Safe for use by any number of threads. */
public final class PageFetcher implements AutoCloseable {
    /** @param namespace what keeps this bucket's keys apart in the cache: endpoint and bucket */
    public PageFetcher(ObjectStore store, PageCache cache, String namespace, ReadaheadConfig config) {
        throw new UnsupportedOperationException(namespace);
    }

    /** A reader of this version, which shares detected streams with the other readers of it. Close it when done. */
    public ObjectReader open(ObjectVersion version) {
        throw new UnsupportedOperationException(version.toString());
    }

    /** Cancels what is in flight. */
    @Override
    public void close() {}
}

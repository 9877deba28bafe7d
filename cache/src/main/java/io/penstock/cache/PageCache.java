package io.penstock.cache;

import io.penstock.core.ObjectVersion;
import java.io.IOException;

/** The page cache of one mount. Safe for use by any number of threads. */
public final class PageCache implements AutoCloseable {
    /** Bytes in a page; the last page of an object is as long as what is left of it. */
    public static final int PAGE_SIZE = 1 << 20;

    private PageCache() {}

    /**
     * Opens the cache folder and takes over what earlier runs left Ready in it.
     *
     * @throws IOException with a message fit for the user if the folder cannot be used, or another process uses it
     */
    public static PageCache open(CacheConfig config) throws IOException {
        throw new UnsupportedOperationException(config.toString());
    }

    /**
     * The pages of one object version, shared by all who have it open. Close it when done.
     *
     * @param namespace what keeps keys of different buckets apart: endpoint and bucket
     */
    public CachedObject open(String namespace, ObjectVersion version) {
        throw new UnsupportedOperationException(namespace + version);
    }

    public CacheStatistics statistics() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
}

package io.penstock.objectstore;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;

/**
 * One bucket of an object store.
 *
 * <p>Every call blocks until its answer is there and is meant to be made on a virtual thread: a thousand waiting calls
 * are cheap. Implementations are safe for use by any number of threads, retry what is worth retrying within their
 * configured deadline, and hold no lock while they wait. An interrupt ends a call early with {@link
 * InterruptedException}.
 */
public interface ObjectStore extends AutoCloseable {
    /** The bucket's name, for messages and cache keys. */
    String bucket();

    /**
     * Reads a range of exactly this version (If-Match on its ETag) into the sink, in order, as the bytes arrive. A
     * connection that breaks midway is resumed after the last byte received; the sink never sees a byte twice, and
     * returns from this method mean that it saw all of them.
     *
     * @param version what to read; the range must lie within its size
     * @throws ObjectStoreException.PreconditionFailed if the object is no longer this version
     * @throws ObjectStoreException.NotFound if the object is gone
     */
    void get(ObjectVersion version, ByteRange range, BodySink sink) throws ObjectStoreException, InterruptedException;

    /**
     * The current version of the object with exactly this key.
     *
     * @throws ObjectStoreException.NotFound if there is none
     */
    StoredObject head(String key) throws ObjectStoreException, InterruptedException;

    /** One page of a listing (ListObjectsV2). An empty page with a next token is possible and must be followed. */
    ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException;

    /** Ends requests in flight with an error and frees the connections. */
    @Override
    void close();
}

package io.penstock.prefetch;

import io.penstock.objectstore.ObjectStoreException;
import java.nio.ByteBuffer;

/** Positional reads of one object version through the page cache, with readahead. Safe for use by any number of threads. */
public final class ObjectReader implements AutoCloseable {
    /** What {@link #readNow} returns instead of a byte count when it would have to wait. */
    public static final int WOULD_WAIT = -1;

    ObjectReader() {}

    /**
     * Reads until the buffer is full or the object ends.
     *
     * @return bytes read: fewer than asked for only at the end of the object; 0 at or after it
     * @throws ObjectStoreException.PreconditionFailed if a page had to be fetched and the object has changed
     */
    public int read(long position, ByteBuffer to) throws ObjectStoreException, InterruptedException {
        throw new UnsupportedOperationException();
    }

    /** The same if all of it is in memory, without waiting; else {@link #WOULD_WAIT}, and the buffer as it was. */
    public int readNow(long position, ByteBuffer to) {
        throw new UnsupportedOperationException();
    }

    /** The last close of a version cancels its readahead that nobody awaits. */
    @Override
    public void close() {}
}

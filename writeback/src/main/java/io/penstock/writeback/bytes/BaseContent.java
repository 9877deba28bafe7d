package io.penstock.writeback.bytes;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import java.nio.ByteBuffer;

/** Reads the committed versions under written files: through the page cache, with readahead. */
@FunctionalInterface
public interface BaseContent {
    /** A reader of this version. Safe for use by any number of threads. */
    Reader open(ObjectVersion version);

    /** An open version. */
    interface Reader extends AutoCloseable {
        /** @return bytes read, until the buffer is full or the object ends */
        int read(long position, ByteBuffer to) throws ObjectStoreException, InterruptedException;

        @Override
        void close();
    }
}

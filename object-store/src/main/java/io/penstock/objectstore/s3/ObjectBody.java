package io.penstock.objectstore.s3;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A response to a GET of a range, with its bytes still unread. One thread reads it; any may abort it. */
interface ObjectBody {
    /** The response's ETag; null if it has none. */
    @Nullable
    String eTag();

    /** When the object was written; null if the response does not say. */
    @Nullable
    Instant lastModified();

    /** In bytes; null if the response does not say. */
    @Nullable
    Long contentLength();

    /** Such as {@code bytes 0-9/100}; null if the response does not say. */
    @Nullable
    String contentRange();

    /** Whether {@link #finish} compares the bytes with a checksum in the response. */
    boolean isChecked();

    /**
     * Puts bytes at the buffer's position.
     *
     * @param wanted maximum number of bytes, for which the buffer has room; 1 or more
     * @return 1 or more; -1 at the end
     * @throws DamagedBodyException if the checksum does not match
     */
    int read(ByteBuffer target, int wanted) throws IOException;

    /**
     * Called after all requested bytes have been read. Compares checksums, if there are any, and releases the
     * connection.
     *
     * @return whether this was the body's end
     * @throws IOException if the connection broke after the last byte
     * @throws DamagedBodyException if the checksum does not match
     */
    boolean finish() throws IOException;

    /** Breaks the connection, unless the body has been read to its end. */
    void abort();
}

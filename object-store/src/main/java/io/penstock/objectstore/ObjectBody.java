package io.penstock.objectstore;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** An answer to a GET of a range, whose bytes are still to be read. Read by one thread, aborted by any. */
interface ObjectBody {
    /** As the answer names it; null if it does not. */
    @Nullable
    String eTag();

    /** When the object was written; null if the answer does not tell. */
    @Nullable
    Instant lastModified();

    /** In bytes; null if the answer does not tell. */
    @Nullable
    Long contentLength();

    /** {@code bytes 0-9/100}; null if the answer does not tell. */
    @Nullable
    String contentRange();

    /** Whether {@link #finish} compares the bytes with a checksum that came with the answer. */
    boolean isChecked();

    /**
     * Puts bytes at the buffer's position.
     *
     * @param wanted most bytes, of which the buffer has room; 1 or more
     * @return 1 or more; -1 at the end
     * @throws DamagedBodyException if the checksum does not hold
     */
    int read(ByteBuffer target, int wanted) throws IOException;

    /**
     * Called when all bytes that were asked for have been read: compares checksums, if there are any, and gives the
     * connection to whoever wants it next.
     *
     * @return whether this was the body's end
     * @throws IOException if the connection broke after the last byte
     * @throws DamagedBodyException if the checksum does not hold
     */
    boolean finish() throws IOException;

    /** Breaks the connection, unless all has been read. */
    void abort();
}

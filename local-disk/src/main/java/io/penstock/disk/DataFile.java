package io.penstock.disk;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A file that is read and written at offsets. Safe for use by any number of threads.
 */
public interface DataFile extends AutoCloseable {
    /**
     * Reads until the buffer is full or the file ends; a large read goes past the kernel's page cache if it and its
     * memory are aligned. Not ended by an interrupt.
     *
     * @return bytes read
     */
    int read(long position, ByteBuffer to) throws IOException;

    /** The same, but a small read too goes past the kernel's page cache if it and its memory are aligned. */
    int readDirect(long position, ByteBuffer to) throws IOException;

    /** Writes all that remains in the buffer; past the kernel's page cache if it and its memory are aligned. */
    void write(long position, ByteBuffer from) throws IOException;

    /** Gives the space back: the range then reads as zeros. The file's length stays. */
    void punch(long position, long length) throws IOException;

    /** Returns once all that was written would survive a crash of the machine: fdatasync. */
    void force() throws IOException;

    /** Gives the file's descriptors back until the next transfer. Transfers in flight begin once more. */
    default void rest() throws IOException {}

    /** Bytes. */
    long length() throws IOException;

    /** Cuts the file, or lets it grow by zeros that take no space. */
    void setLength(long bytes) throws IOException;

    @Override
    void close() throws IOException;
}

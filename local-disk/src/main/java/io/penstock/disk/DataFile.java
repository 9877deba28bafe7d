package io.penstock.disk;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A file that is read and written at offsets. Safe for use by any number of threads.
 */
public interface DataFile extends AutoCloseable {
    /**
     * Reads until the buffer is full or the file ends. A large read bypasses the kernel's page cache if it and its
     * memory are aligned. An interrupt does not end it.
     *
     * @return bytes read
     */
    int read(long position, ByteBuffer to) throws IOException;

    /** The same, but small reads too bypass the kernel's page cache if they and their memory are aligned. */
    int readDirect(long position, ByteBuffer to) throws IOException;

    /** Writes the buffer's remaining bytes; bypasses the kernel's page cache if they and their memory are aligned. */
    void write(long position, ByteBuffer from) throws IOException;

    /** Frees the space of a range, which then reads as zeros. The file's length does not change. */
    void punch(long position, long length) throws IOException;

    /** Returns when all written bytes would survive a crash of the machine: fdatasync. */
    void force() throws IOException;

    /** Closes the file's descriptors until the next transfer. Transfers in flight start again. */
    default void rest() throws IOException {}

    /** In bytes. */
    long length() throws IOException;

    /** Truncates the file, or extends it with zeros that take no space. */
    void setLength(long bytes) throws IOException;

    @Override
    void close() throws IOException;
}

package io.penstock.writeback;

import io.penstock.cache.DataFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The files of the staging folder. Safe for use by any number of threads. */
interface StagingFiles extends AutoCloseable {
    /** Makes an empty file. Its name may be lost in a crash of the machine until {@link #force}. */
    DataFile create(String name) throws IOException;

    DataFile open(String name) throws IOException;

    /** Of all its files that are those of {@linkplain StagedFile#isName staged files}. */
    List<String> names() throws IOException;

    /** One that is gone already is no error. */
    void remove(String name) throws IOException;

    /**
     * Gives it the name of another, which is gone then, in one step. A crash of the machine may find either of this name
     * until {@link #force}.
     */
    void rename(String name, String to) throws IOException;

    /** Returns once the names of all files would survive a crash of the machine. */
    void force() throws IOException;

    /** Bytes that could be written now. */
    long usableBytes() throws IOException;

    /** Where the file is. */
    Path path(String name);

    /** Nobody uses them any more. */
    @Override
    default void close() throws IOException {}
}

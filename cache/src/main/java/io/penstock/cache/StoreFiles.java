package io.penstock.cache;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.LongPredicate;

/** The data files of a cache folder; their names are numbers. */
interface StoreFiles {
    /** @throws java.nio.file.NoSuchFileException if there is no such file */
    DataFile open(long name) throws IOException;

    /** Makes a sparse file of this length. */
    DataFile create(long name, long length) throws IOException;

    /**
     * Makes a file of the same file system one of these.
     *
     * @throws java.nio.file.FileAlreadyExistsException if there is one of this name; the source is then still there
     */
    void adopt(long name, Path source) throws IOException;

    void remove(long name) throws IOException;

    /** Where the file is, or would be. */
    Path path(long name);

    /** Removes the files that the predicate does not know. */
    void removeUnknown(LongPredicate known) throws IOException;

    /** Bytes that could be written now. */
    long usableBytes() throws IOException;
}

package io.penstock.disk;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A folder of data files. A file's name may begin with a folder's name, as in {@code 3f/3f07}. Safe for use by any
 * number of threads.
 */
public interface DataFolder extends AutoCloseable {
    /**
     * Creates an empty file. A crash of the machine may lose its name until {@link #force}.
     *
     * @throws java.nio.file.FileAlreadyExistsException if there is a file of this name
     */
    DataFile create(String name) throws IOException;

    /** @throws java.nio.file.NoSuchFileException if there is no file of this name */
    DataFile open(String name) throws IOException;

    /**
     * Moves a file of the same file system here.
     *
     * @throws java.nio.file.FileAlreadyExistsException if there is a file of this name; the source then remains
     */
    void adopt(String name, Path source) throws IOException;

    /** Does nothing if the file does not exist. */
    void remove(String name) throws IOException;

    /**
     * Renames the file, replacing any file of the new name, in one step. Until {@link #force}, a crash of the machine
     * may leave either file under that name.
     */
    void rename(String name, String to) throws IOException;

    /** Returns when the names of the files, except of those in subfolders, would survive a crash of the machine. */
    void force() throws IOException;

    /** Passes the name of each file to the visitor. */
    void forEach(Visitor names) throws IOException;

    /** Receives names. */
    interface Visitor {
        void visit(String name) throws IOException;
    }

    /** The names of all files, sorted. */
    default List<String> names() throws IOException {
        List<String> names = new ArrayList<>();
        forEach(names::add);
        Collections.sort(names);
        return names;
    }

    /** Whether aligned transfers of its files bypass the kernel's page cache. */
    default boolean isDirect() {
        return false;
    }

    /** Bytes that could be written now. */
    long usableBytes() throws IOException;

    /** The path of the file, whether or not it exists. */
    Path path(String name);

    /** Stops using the folder. */
    @Override
    default void close() throws IOException {}
}

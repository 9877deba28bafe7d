package io.penstock.disk;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A folder of data files. A file's name may begin with that of a folder, as in {@code 3f/3f07}. Safe for use by any number
 * of threads.
 */
public interface DataFolder extends AutoCloseable {
    /**
     * Makes an empty file. Its name may be lost in a crash of the machine until {@link #force}.
     *
     * @throws java.nio.file.FileAlreadyExistsException if there is a file of this name
     */
    DataFile create(String name) throws IOException;

    /** @throws java.nio.file.NoSuchFileException if there is no file of this name */
    DataFile open(String name) throws IOException;

    /**
     * Moves a file of the same file system here.
     *
     * @throws java.nio.file.FileAlreadyExistsException if there is a file of this name; the source is then still there
     */
    void adopt(String name, Path source) throws IOException;

    /** A file that does not exist is no error. */
    void remove(String name) throws IOException;

    /**
     * Gives the file another name, and replaces the file that had it, in one step. A crash of the machine may find either
     * under this name until {@link #force}.
     */
    void rename(String name, String to) throws IOException;

    /** Returns once the names of the files, but of those within folders, would survive a crash of the machine. */
    void force() throws IOException;

    /** Hands over the name of each file. */
    void forEach(Visitor names) throws IOException;

    /** Takes names. */
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

    /** Whether aligned transfers of its files go past the kernel's page cache. */
    default boolean isDirect() {
        return false;
    }

    /** Bytes that could be written now. */
    long usableBytes() throws IOException;

    /** Where the file is, or would be. */
    Path path(String name);

    /** Ends the use of the folder. */
    @Override
    default void close() throws IOException {}
}

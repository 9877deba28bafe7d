package io.penstock.filesystem;

/** Takes directory entries until it is full. */
@FunctionalInterface
public interface DirectorySink {
    /**
     * Offers one entry.
     *
     * @param name the entry's name
     * @param attributes what stat would show. Without an inode number ({@link FileSystem#UNKNOWN_INODE}), only the type
     *     is used, 0 if that is not known
     * @param nextOffset where a later readdir continues after this entry
     * @return false if there was no room: the entry was not taken, and no more are wanted
     */
    boolean add(String name, Attributes attributes, long nextOffset);
}

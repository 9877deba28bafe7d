package io.penstock.metadata;

import org.jspecify.annotations.Nullable;

/**
 * A numbered place in the tree. What stands there may change: ask {@link Tree#lookup}.
 *
 * @param number never given to another place within a mount
 * @param parent the directory that it is in; null for the root
 * @param name its name there; empty for the root
 * @param directory what it stands for if it is a directory; null if it is a file
 */
public record Inode(
        long number,
        @Nullable Directory parent,
        String name,
        @Nullable Directory directory) {
    public boolean isDirectory() {
        return directory != null;
    }
}

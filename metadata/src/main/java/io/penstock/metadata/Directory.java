package io.penstock.metadata;

import org.jspecify.annotations.Nullable;

/**
 * A directory. It exists if any key begins with its prefix.
 *
 * @param prefix the beginning of the keys of everything in it; ends in a slash, or is empty for a bucket's root
 */
public record Directory(String prefix) implements Node {
    public Directory {
        if (!prefix.isEmpty() && !prefix.endsWith("/")) {
            throw new IllegalArgumentException("a directory's prefix must end in a slash: '" + prefix + "'");
        }
    }

    /**
     * The key of the object {@code name} in it. With a slash appended, it is the prefix of the directory {@code name}.
     */
    public String key(String name) {
        return prefix + name;
    }

    /** The directory that contains this one; null for a bucket's root. */
    public @Nullable Directory parent() {
        return of(prefix);
    }

    /** The directory that contains the object or directory with this key; null if the key is empty. */
    public static @Nullable Directory of(String key) {
        return key.isEmpty() ? null : new Directory(key.substring(0, key.lastIndexOf('/', key.length() - 2) + 1));
    }

    /** Whether the key, or the prefix of a directory, begins with this directory's prefix. */
    public boolean contains(String key) {
        return key.startsWith(prefix);
    }

    /** Whether this is the other directory, or is somewhere below it. */
    public boolean isWithin(Directory other) {
        return prefix.startsWith(other.prefix);
    }

    /** This directory, which {@link #isWithin} {@code from}, after a rename of {@code from} to {@code to}. */
    public Directory moved(Directory from, Directory to) {
        return new Directory(to.prefix + prefix.substring(from.prefix.length()));
    }

    /** The directory {@code name} in it. */
    public Directory child(String name) {
        return new Directory(prefix + name + "/");
    }
}

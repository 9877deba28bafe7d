package io.penstock.metadata;

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

    /** The directory {@code name} in it. */
    Directory child(String name) {
        return new Directory(prefix + name + "/");
    }
}

package io.penstock.metadata;

/**
 * A directory: all that it takes to exist is a key that begins with its prefix.
 *
 * @param prefix what the keys of everything in it begin with; ends in a slash, or is empty for a bucket's root
 */
public record Directory(String prefix) implements Node {
    public Directory {
        if (!prefix.isEmpty() && !prefix.endsWith("/")) {
            throw new IllegalArgumentException("a directory's prefix must end in a slash: '" + prefix + "'");
        }
    }

    /** The key of the object {@code name} in it; with a slash behind it, the prefix of the directory {@code name}. */
    public String key(String name) {
        return prefix + name;
    }

    /** The directory {@code name} in it. */
    Directory child(String name) {
        return new Directory(prefix + name + "/");
    }
}

package io.penstock.metadata;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Names that were changed here, or found to be otherwise, since a listing of the whole bucket began, and their parent
 * directories, which a change may create or remove. That listing does not count for them. Safe for use by any number of
 * threads.
 */
final class SupersededNames {
    /** Some 150 bytes of heap each. */
    private static final int MOST = 200_000;

    /** Keys of names, and prefixes of directories that contain one. */
    private final Set<String> paths = ConcurrentHashMap.newKeySet();

    /** Does nothing once it is full. */
    void add(Directory directory, String name) {
        if (isFull()) {
            return;
        }
        String prefix = directory.prefix();
        paths.add("");
        for (int slash = prefix.indexOf('/'); slash >= 0; slash = prefix.indexOf('/', slash + 1)) {
            paths.add(prefix.substring(0, slash));
            paths.add(prefix.substring(0, slash + 1));
        }
        paths.add(directory.key(name));
    }

    boolean contains(Directory directory, String name) {
        return containsKey(directory.key(name));
    }

    boolean containsKey(String key) {
        return paths.contains(key);
    }

    /** Whether any name in the directory is superseded. */
    boolean containsAnyIn(String prefix) {
        return paths.contains(prefix);
    }

    boolean isFull() {
        return paths.size() >= MOST;
    }
}

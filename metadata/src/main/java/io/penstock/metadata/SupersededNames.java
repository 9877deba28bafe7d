package io.penstock.metadata;

import io.penstock.metadata.Inode.Place;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Names that were changed here, or found to differ, since a listing of the whole bucket began, and their parent
 * directories, which a change may create or remove. That listing is not valid for them. Safe for use by any number of
 * threads.
 */
final class SupersededNames {
    /** Some 150 bytes of heap each. */
    private static final int MOST = 200_000;

    /** Keys of names, and prefixes of directories that contain one. */
    private final Set<String> paths = ConcurrentHashMap.newKeySet();

    /** The prefixes of directories in which all names are superseded. */
    private final Set<String> whole = ConcurrentHashMap.newKeySet();

    /** Adds the directory's name, and all names below it. */
    void addAll(Directory directory) {
        Place place = Place.of(directory);
        add(place.parent(), place.name());
        if (!isFull() && !isWithinWhole(directory.prefix())) {
            whole.add(directory.prefix());
        }
    }

    /** Does nothing if this is full, or if the name is superseded with its directory. */
    void add(Directory directory, String name) {
        if (isFull() || isWithinWhole(directory.prefix())) {
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
        return paths.contains(key) || isWithinWhole(key);
    }

    /** Whether it is below one of these directories, or is the prefix of one. */
    private boolean isWithinWhole(String key) {
        for (int slash = key.indexOf('/'); slash >= 0 && !whole.isEmpty(); slash = key.indexOf('/', slash + 1)) {
            if (whole.contains(key.substring(0, slash + 1))) {
                return true;
            }
        }
        return false;
    }

    /** Whether any name in the directory is superseded. */
    boolean containsAnyIn(String prefix) {
        return paths.contains(prefix) || isWithinWhole(prefix);
    }

    boolean isFull() {
        return paths.size() + whole.size() >= MOST;
    }
}

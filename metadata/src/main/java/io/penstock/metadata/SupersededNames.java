package io.penstock.metadata;

import io.penstock.metadata.Inode.Place;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Names that were changed here, or found to be otherwise, since a listing of the whole bucket began, and their parent
 * directories, which a change may create or remove. That listing does not count for them. Safe for use by any number of
 * threads.
 */
final class SupersededNames {
    /** Some 150 bytes of heap each. */
    private static final int MOST = 200_000;

    /** The maximum number of directories with all that is below them: each lookup compares them. */
    private static final int MOST_WHOLE = 1_000;

    /** Keys of names, and prefixes of directories that contain one. */
    private final Set<String> paths = ConcurrentHashMap.newKeySet();

    /** The prefixes of directories in which all names are superseded. */
    private final List<String> whole = new CopyOnWriteArrayList<>();

    /** The directory's name, and all names below it. */
    void addAll(Directory directory) {
        Place place = Place.of(directory);
        add(place.parent(), place.name());
        if (!isWithinWhole(directory.prefix())) {
            whole.add(directory.prefix());
        }
    }

    /** Does nothing once it is full, or if the name is superseded with its directory. */
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

    private boolean isWithinWhole(String key) {
        for (String prefix : whole) {
            if (key.startsWith(prefix)) {
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
        return paths.size() >= MOST || whole.size() >= MOST_WHOLE;
    }
}
